"""Rules on a shared EFS file system."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.zones import validate_zones
from gpufleet.rules.generic import allowed_choice, not_empty
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

THROUGHPUT = ("elastic", "bursting", "provisioned")
LIFECYCLE_DAYS = (0, 1, 7, 14, 30, 60, 90, 180, 270, 365)
_DIRECTORY = re.compile(r"(/(?!\.)[^$#<>;`|&?{}^*/\n]+){1,4}")
_PERMISSIONS = re.compile(r"[0-7]{3,4}")
_HIGHEST_ID = 4_294_967_295


@rule("aws-files-one-zone", Severity.ERROR)
def one_zone(*, zone: str, node_zones: Sequence[str]) -> Outcome:
    """A One Zone file system is mounted in its own zone only.

    Source: https://docs.aws.amazon.com/efs/latest/ug/how-it-works.html: One Zone file systems have a single mount
    target, in the zone that they lie in.
    """
    others = [each for each in node_zones if each != zone]
    if not zone or not node_zones or (zone in node_zones and not others):
        return passed()
    if zone not in node_zones:
        return failed(
            "one_zone", zone, f"has no nodes; they are in {join_words(node_zones, 'and')}", "use a zone of nodes"
        )
    fix = f"set zones=[{zone}], or leave one_zone out"
    return failed("one_zone", zone, f"gives no mount target in {join_words(others, 'and')}", fix)


@rule("aws-files-zone-name", Severity.ERROR)
def zone_name_given(*, zone: str, named: Sequence[str]) -> Outcome:
    """The zone of a One Zone file system has its name in this account given.

    Source: EFS CreateFileSystem takes AvailabilityZoneName only, and names differ between accounts.
    """
    if not zone or zone in named:
        return passed()
    fix = f"give this account's name of it, for instance zone_names={{{zone}: us-east-1a}}"
    return failed("one_zone", zone, "has no entry in zone_names", fix)


@rule("aws-files-clients", Severity.ERROR)
def clients(*, zones: Sequence[str], groups: Sequence[str]) -> Outcome:
    """At least one security group may mount: TCP 2049 is open to it.

    Source: kubernetes-sigs/aws-efs-csi-driver#228: with the port closed a mount hangs until it times out.
    """
    if groups or not zones:
        return passed()
    problem = "lets nobody mount: TCP 2049 would be open from nowhere"
    return failed("client_security_group_ids", {}, problem, "give the security group of the nodes")


@rule("aws-files-user", Severity.ERROR)
def user(*, argument: str, number: int) -> Outcome:
    """Files belong to a user and a group other than root; `argument` is uid or gid.

    Source: an access point's POSIX user overrides the client's, so 0 makes every job root on all files; PosixUser of
    botocore's model of efs ends at 4294967295.
    """
    if 1 <= number <= _HIGHEST_ID:
        return passed()
    problem = "is root, who may change everybody's files" if number == 0 else "is not a POSIX id"
    return failed(argument, number, problem, f"use 1 to {_HIGHEST_ID}, such as 1000")


@rule("aws-files-throughput", Severity.ERROR)
def throughput_figure(*, throughput: str, mibps: float | None) -> Outcome:
    """Provisioned throughput has a value of at least 1 MiB/s, and the other modes have none.

    Source: ProvisionedThroughputInMibps of botocore's model of efs; EFS CreateFileSystem demands it for provisioned.
    """
    if throughput != "provisioned":
        if mibps is None:
            return passed()
        problem = f"is not used with throughput={throughput}"
        return failed("provisioned_mibps", mibps, problem, "leave it out, or set throughput=provisioned")
    if mibps is None:
        fix = "set provisioned_mibps to MiB/s, or throughput=elastic"
        return failed("throughput", throughput, "has no figure", fix)
    if not mibps >= 1:
        return failed("provisioned_mibps", mibps, "is below EFS's minimum of 1 MiB/s", "use 1 or more")
    return passed()


@rule("aws-files-lifecycle", Severity.ERROR)
def lifecycle(*, days: int) -> Outcome:
    """Files move to infrequent access after a period that EFS supports; 0 means never.

    Source: TransitionToIARules of botocore's model of efs.
    """
    if days in LIFECYCLE_DAYS:
        return passed()
    fix = f"use {join_words(map(str, LIFECYCLE_DAYS))}"
    return failed("infrequent_access_days", days, "is not a lifecycle period that EFS supports", fix)


@rule("aws-files-directory", Severity.ERROR)
def directory_legal(*, directory: str) -> Outcome:
    """The directory of an access point is absolute, at most four deep and at most 100 characters long.

    Source: Path of botocore's model of efs; EFS makes the root / never, so that it takes no owner.
    """
    if _DIRECTORY.fullmatch(directory) and len(directory) <= 100:
        return passed()
    fix = "use a path such as /shared, at most four directories deep"
    return failed("directory", directory, "is not a valid directory for an EFS access point", fix)


@rule("aws-files-permissions", Severity.ERROR)
def permissions_legal(*, permissions: str) -> Outcome:
    """The mode of the directory is three or four octal digits.

    Source: Permissions of botocore's model of efs.
    """
    if _PERMISSIONS.fullmatch(permissions):
        return passed()
    return failed(
        "permissions", permissions, "is not an octal file mode", 'use three or four digits 0 to 7, such as "0755"'
    )


def validate_shared_files(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a shared file system.

    Reads region, zones (zone ids with nodes; may be empty with file_system_id), client_security_group_ids, uid, gid,
    directory, permissions, throughput (elastic, bursting, provisioned), provisioned_mibps, infrequent_access_days,
    one_zone, zone_names, file_system_id, tags.
    """
    zones = coerce.texts(args, "zones")
    zone = coerce.text(args, "one_zone")
    figure = args.get("provisioned_mibps")
    mode = coerce.text(args, "throughput", "elastic")
    mibps = float(figure) if isinstance(figure, int | float) and not isinstance(figure, bool) else None
    findings = [
        *validate_zones(coerce.text(args, "region"), zones),
        one_zone(zone=zone, node_zones=zones),
        zone_name_given(zone=zone, named=tuple(coerce.mapping(args, "zone_names"))),
        clients(zones=zones, groups=tuple(coerce.mapping(args, "client_security_group_ids"))),
        user(argument="uid", number=coerce.whole(args, "uid", 1000)),
        user(argument="gid", number=coerce.whole(args, "gid", 1000)),
        allowed_choice(argument="throughput", word=mode, legal=THROUGHPUT),
        throughput_figure(throughput=mode, mibps=mibps),
        lifecycle(days=coerce.whole(args, "infrequent_access_days", 30)),
        directory_legal(directory=coerce.text(args, "directory", "/shared")),
        permissions_legal(permissions=coerce.text(args, "permissions", "0755")),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if args.get("file_system_id") is None and coerce.is_texts(args.get("zones")):
        findings.append(not_empty(argument="zones", values=zones, holds="zone id"))
    return findings
