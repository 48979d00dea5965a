"""Rules on copies of on-prem files that DataSync keeps in AWS, and their validation."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, at_least, distinct, not_empty
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

TARGETS = ("efs", "s3")
DEFAULT_PATH = "/"
_OF_TARGET = {"file_system_arn": "efs", "subnet_id": "efs", "security_group_ids": "efs", "bucket_arn": "s3"}
"""Argument -> the target that it belongs to; all are needed."""
_PATHS = ("nfs_path", "cloud_path", "back_from", "back_to")
_PATH = re.compile(r"/[a-zA-Z0-9_\-+./() ]*")
"""Locations of DataSync, without what is not a path: botocore's model of datasync, NfsSubdirectory."""
_SERVER = re.compile(r"(?=.{1,255}$)([a-zA-Z0-9-]*[a-zA-Z0-9]\.)*[A-Za-z0-9-]*[A-Za-z0-9]")
_AGENT = re.compile(r"arn:aws[a-z-]*:datasync:([a-z0-9-]+):\d{12}:agent/agent-[0-9a-z]{17}")
MOST_HOURS = 168


@rule("aws-sync-hours", Severity.ERROR)
def hours_legal(*, hours: int) -> Outcome:
    """A sync runs every 1 to 168 hours.

    Source: https://docs.aws.amazon.com/datasync/latest/userguide/task-scheduling.html: once an hour at most; more than
    a week apart it is not a sync (our choice).
    """
    if 1 <= hours <= MOST_HOURS:
        return passed()
    return failed(
        "every_hours", hours, "is not a valid sync interval", f"use 1 to {MOST_HOURS}; a shorter delay needs a link"
    )


@rule("aws-sync-path", Severity.ERROR)
def path_legal(*, argument: str, path: str) -> Outcome:
    """Both ends of a sync are directories by their absolute paths, without . and .. in them.

    Source: botocore's model of datasync (NfsSubdirectory, EfsSubdirectory, S3Subdirectory).
    """
    if _PATH.fullmatch(path) and not {".", ".."} & set(path.split("/")):
        return passed()
    return failed(argument, path, "must be an absolute directory path", "use one such as /export/data")


@rule("aws-sync-server", Severity.ERROR)
def server_legal(*, server: str) -> Outcome:
    """The NFS server is a host name or an IPv4 address that the agent can reach; its path is a separate argument.

    Source: botocore's model of datasync (ServerHostname).
    """
    if _SERVER.fullmatch(server):
        return passed()
    return failed(
        "nfs_server",
        server,
        "is not a host name or address",
        "use a name or an address, such as 192.168.10.5, without a path",
    )


@rule("aws-sync-agent", Severity.ERROR)
def agent_here(*, arn: str, region: str) -> Outcome:
    """The agent that reads the on-prem files is activated in the region of the sync.

    Source: https://docs.aws.amazon.com/datasync/latest/userguide/activate-agent.html: an agent works in the region in
    which it was activated.
    """
    found = _AGENT.fullmatch(arn)
    if found is None:
        fix = "use one such as arn:aws:datasync:us-east-1:123456789012:agent/agent-0123456789abcdef0"
        return failed("agent_arns", arn, "is not the ARN of a DataSync agent", fix)
    if found[1] != region:
        return failed("agent_arns", arn, f"is an agent of {found[1]}, not of {region}", f"activate one in {region}")
    return passed()


@rule("aws-sync-apart", Severity.ERROR)
def directions_apart(*, argument: str, path: str, other_argument: str, other: str) -> Outcome:
    """The directory copied back does not overlap the directory copied there, else a file changed at both ends is lost.

    Source: https://docs.aws.amazon.com/datasync/latest/userguide/configure-metadata.html: DataSync overwrites what
    differs, whichever is newer.
    """
    one, two = PurePosixPath(path), PurePosixPath(other)
    if one != two and two not in one.parents and one not in two.parents:
        return passed()
    problem = f"overlaps {other_argument}={other}, so that one direction overwrites what the other brings"
    return failed(argument, path, problem, "use a directory apart, such as /results beside /data")


@rule("aws-sync-back", Severity.ERROR)
def back_whole(*, back_from: bool, back_to: bool) -> Outcome:
    """Copying back has both a source and a destination.

    Source: the docstrings of the component's arguments.
    """
    if back_from == back_to:
        return passed()
    missing = "back_to" if back_from else "back_from"
    return failed(missing, None, "is not given, and the other end of the way back is", "give both, or none")


@rule("aws-sync-target", Severity.ERROR)
def target_whole(*, to: str, argument: str, of: str, given: bool) -> Outcome:
    """The cloud end of a sync has the arguments of its kind, and none of the other; `of`: the argument's own kind.

    Source: EC2Config and EfsFilesystemArn are required by CreateLocationEfs, S3BucketArn by CreateLocationS3.
    """
    if given is (to == of):
        return passed()
    if given:
        return failed(argument, "given", f"belongs to to={of}, and this sync is to={to}", f"remove it, or use to={of}")
    return failed(argument, None, f"is not given, and to={to} needs it", f"give {argument}")


@rule("aws-sync-files-made", Severity.ERROR)
def files_made(*, to: str, own_files: bool) -> Outcome:
    """An environment whose shared files are on own servers or on Lustre copies to a bucket: it makes no EFS.

    Source: gpufleet's own configuration, gpufleet:own_servers.nfs and gpufleet:lustre
    """
    if to != "efs" or not own_files:
        return passed()
    problem = "the shared files of this environment are own_servers.nfs or lustre, and it makes no EFS"
    return failed("to", to, problem, "use to=s3 with bucket_arn")


@rule("aws-sync-owners-s3", Severity.INFO)
def owners_kept(*, to: str) -> Outcome:
    """Owners and permissions of files are those of the own servers wherever jobs read them as files.

    Source: https://docs.aws.amazon.com/datasync/latest/userguide/metadata-copied.html: to S3 they go into metadata of
    the object, which DataSync itself reads back and no mount of a bucket does.
    """
    if to != "s3":
        return passed()
    problem = "keeps owners as metadata only; a job that reads the bucket sees no uids"
    return failed("to", to, problem, "use to=efs where users own their files")


def validate_synced_files(to: str, own_files: bool) -> list[Finding]:
    """Every finding on a sync in its environment, passes included. own_files: the shared files are not on EFS."""
    return [files_made(to=to, own_files=own_files)]


def validate_data_sync(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a sync, passes included.

    Reads region, nfs_server, nfs_path, agent_arns, to, cloud_path, file_system_arn, subnet_id, security_group_ids,
    bucket_arn, every_hours, back_from, back_to, limit_mbit, tags. ARNs and ids may be anything that is not None.
    """
    to, agents = coerce.text(args, "to"), coerce.texts(args, "agent_arns")
    paths = {"cloud_path": DEFAULT_PATH} | {
        name: coerce.text(args, name) for name in _PATHS if isinstance(args.get(name), str)
    }
    findings = [
        allowed_choice(argument="to", word=to, legal=TARGETS),
        owners_kept(to=to),
        server_legal(server=coerce.text(args, "nfs_server")),
        not_empty(argument="agent_arns", values=agents, holds="DataSync agent"),
        distinct(argument="agent_arns", values=agents),
        *(agent_here(arn=each, region=coerce.text(args, "region")) for each in agents),
        *(path_legal(argument=name, path=path) for name, path in paths.items()),
        hours_legal(hours=coerce.whole(args, "every_hours", 1)),
        back_whole(back_from="back_from" in paths, back_to="back_to" in paths),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if to in TARGETS:
        findings += [
            target_whole(to=to, argument=name, of=of, given=args.get(name) is not None)
            for name, of in _OF_TARGET.items()
        ]
    for back, there in (("back_from", "cloud_path"), ("back_to", "nfs_path")):
        if back in paths and there in paths:
            findings.append(directions_apart(argument=back, path=paths[back], other_argument=there, other=paths[there]))
    if coerce.is_whole(args.get("limit_mbit")):
        findings.append(at_least(argument="limit_mbit", value=coerce.whole(args, "limit_mbit", 1), least=1))
    return findings
