"""Rules on the variables, secrets and storage of a Batch job, and the validation of TrainingJob."""

import dataclasses
import re
from collections.abc import Mapping, Sequence

from gpufleet.catalog import AwsGpuType, aws
from gpufleet.rules import coerce
from gpufleet.rules.aws import batch_limits
from gpufleet.rules.aws.log_retention import retention
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.efa import NETWORKS
from gpufleet.rules.generic import allowed_choice, at_least
from gpufleet.rules.instance_types import type_current, type_known
from gpufleet.rules.kubernetes.mpi_image import validate_image
from gpufleet.rules.kubernetes.mpi_job import efa_count
from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

MOST_RETRIES = 9
LONGEST_COMMAND = 8192
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SECRET = re.compile(
    r"arn:aws(-\w+)*:(secretsmanager:[a-z0-9-]+:\d{12}:secret:\S+|ssm:[a-z0-9-]+:\d{12}:parameter/\S+)"
)
_PREFIX = re.compile(r"[^/*?$\s][^*?$]*/")
_PATH = re.compile(r"(/[^/\s:,]+)+")


@rule("aws-batch-job-type", Severity.ERROR)
def type_named(*, nodes: int, network: str, type_name: str) -> Outcome:
    """A job of several nodes, or with EFA, names its instance type.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/multi-node-parallel-jobs.html: all nodes have one type;
    a container is given each EFA device by its path, and how many there are is the type's.
    """
    if type_name or (nodes < 2 and network != "efa"):
        return passed()
    why = "with network=efa" if network == "efa" else f"with nodes={nodes}"
    return failed("instance_type", None, f"is needed {why}", "give the type of the queue's environments")


@rule("aws-batch-variable", Severity.ERROR)
def variable(*, argument: str, name: str, also_secret: bool) -> Outcome:
    """A variable of a job has a legal name, is not one of Batch's own, and is given once.

    argument: environment or secrets. also_secret: whether a secret has the same name.
    Source: environment in ContainerProperties of botocore's model of batch: names must not begin with AWS_BATCH.
    """
    if also_secret:
        return failed(argument, name, "is a secret too, and one of the two is lost", "keep one of them")
    if name.upper().startswith("AWS_BATCH"):
        return failed(argument, name, "begins with AWS_BATCH, which Batch keeps for itself", "use another name")
    if not _VARIABLE.fullmatch(name):
        return failed(
            argument, name, "is not a valid variable name", "use letters, digits and _, not starting with a digit"
        )
    return passed()


@rule("aws-batch-secret", Severity.ERROR)
def secret_arn(*, name: str, arn: str) -> Outcome:
    """A secret is given by reference, as the ARN of a secret in Secrets Manager, or of a parameter.

    Source: https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data-secrets.html; a value written
    here would be readable in the job definition.
    """
    if _SECRET.fullmatch(arn):
        return passed()
    fix = "give the ARN of a secret (arn:aws:secretsmanager:...) or of a parameter (arn:aws:ssm:...)"
    # The text itself may be the secret.
    return failed(f"secrets.{name}", "(hidden)", "is not a secret ARN", fix)


@rule("aws-batch-prefix", Severity.ERROR)
def prefix_plain(*, prefix: str, argument: str = "bucket.prefixes") -> Outcome:
    """A job's part of a bucket, or of the account's secrets, is a folder: it ends in a slash, does not begin with one,
    and has no wildcard.

    Source: docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html: * ? and ${} in a
    resource mean more than they say, and without the slash run also covers run-of-others.
    """
    if _PREFIX.fullmatch(prefix):
        return passed()
    fix = "give a folder such as runs/vision/"
    if set(prefix) & set("*?$"):
        return failed(argument, prefix, "has a wildcard, which grants the role more than this folder", fix)
    return failed(argument, prefix, "is not a folder prefix", fix)


@rule("aws-batch-bucket", Severity.ERROR)
def bucket_whole(*, arn: bool, prefixes: int) -> Outcome:
    """A job's bucket is given with its ARN and at least one prefix.

    Source: least privilege: a role of a job may read and write what is named, and nothing is named by leaving it out.
    """
    if arn and prefixes:
        return passed()
    missing = join_words([word for word, there in (("arn", arn), ("prefixes", prefixes)) if not there], "and")
    return failed("bucket", None, f"lacks {missing}", "give arn and prefixes, such as [runs/vision/]")


@rule("aws-batch-mount", Severity.ERROR)
def mount_path(*, path: str, file_system: bool) -> Outcome:
    """Shared files have a file system and an absolute path in the container to appear at.

    Source: containerPath in MountPoint and fileSystemId in EFSVolumeConfiguration of botocore's model of batch.
    """
    if not file_system:
        return failed("files", None, "lacks file_system_id", "give it, an output of SharedFiles for instance")
    if _PATH.fullmatch(path):
        return passed()
    return failed("files.path", path, "must be an absolute path below the root", "give one such as /mnt/shared")


@rule("aws-batch-command", Severity.ERROR)
def command_fits(*, characters: int) -> Outcome:
    """A job's command is short enough for ECS; `characters` are those of it as JSON, with what starts its ranks.

    Source: https://docs.aws.amazon.com/AmazonECS/latest/APIReference/API_RunTask.html: overrides of at most 8192
    characters, as which Batch sends a command (ASFHyP3/hyp3#3041: Container Overrides length must be at most 8192).
    """
    if characters <= LONGEST_COMMAND:
        return passed()
    problem = f"has {characters} characters, more than the {LONGEST_COMMAND} that ECS allows"
    return failed("command", characters, problem, "put it into a script in the image or on the shared files")


def validate_training_job(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a TrainingJob, passes included. Never raises, whatever the values.

    Reads all of its arguments; their names and kinds are for `validate_arguments`.
    """
    type_name = coerce.text(args, "instance_type")
    network = coerce.text(args, "network", "plain")
    nodes = coerce.whole(args, "nodes", 1)
    record = aws().types.get(type_name)
    retries = coerce.whole(args, "retries", 0)
    log_days = coerce.whole(args, "log_retention_days", 30)
    findings = [
        validate_region(coerce.text(args, "region")),
        *validate_image(args),
        *_type(type_name, record),
        at_least(argument="nodes", value=nodes, least=1),
        type_named(nodes=nodes, network=network, type_name=type_name),
        allowed_choice(argument="network", word=network, legal=NETWORKS),
        *_share_of_node(args, type_name, record),
        batch_limits.tries(argument="retries", value=retries, least=0, most=MOST_RETRIES),
        retention(argument="log_retention_days", days=log_days),
        *_variables(args),
        *_storage(args),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if type_name:
        efa = record.efa_interfaces if record else None
        findings.append(efa_count(network=network, wanted=None, type_name=type_name, of_node=efa))
    if coerce.is_whole(args.get("timeout_minutes")):
        minutes = coerce.whole(args, "timeout_minutes", 0)
        findings.append(batch_limits.timeout(argument="timeout_minutes", value=minutes, least=1))
    return findings


def _type(type_name: str, record: AwsGpuType | None) -> list[Finding]:
    """The findings on the instance type itself, which a pool calls types."""
    if not type_name:
        return []
    found = [type_known(type_name=type_name, known=tuple(aws().types))]
    if record:
        found.append(type_current(type_name=type_name, retired=record.retired, successor=record.successor))
    return [dataclasses.replace(each, argument="instance_type") if each.argument else each for each in found]


def _share_of_node(args: Mapping[str, object], type_name: str, record: AwsGpuType | None) -> list[Finding]:
    """The findings on what is asked of a node; what is left to the defaults fits."""
    most = max(each.gpus for each in aws().types.values())
    gpus = coerce.whole(args, "gpus", 1)
    of_node = record.gpus if record else None
    findings = [batch_limits.gpus_fit(gpus=gpus, type_name=type_name, of_node=of_node, most=most)]
    vcpus, memory, shared = (
        coerce.whole(args, word, 0) if coerce.is_whole(args.get(word)) else None
        for word in ("vcpus", "memory_gib", "shared_memory_gib")
    )
    if vcpus is not None:
        of_any = max(each.vcpus for each in aws().types.values())
        whose = (type_name, record.vcpus) if record else ("any node", of_any)
        findings.append(batch_limits.vcpus_fit(vcpus=vcpus, type_name=whose[0], of_node=whose[1]))
    if memory is not None:
        largest = max(each.memory_gib for each in aws().types.values())
        name, of = (type_name, record.memory_gib) if record else ("any node", largest)
        findings.append(batch_limits.memory_fits(memory_gib=memory, type_name=name, of_node=of))
    if shared is not None:
        memory = batch_limits.share_of_node(record, gpus)[1] if memory is None else memory
        findings.append(batch_limits.shared_memory_fits(shared_gib=shared, memory_gib=memory))
    return findings


def _variables(args: Mapping[str, object]) -> list[Finding]:
    plain, secrets = coerce.mapping(args, "environment"), coerce.mapping(args, "secrets")
    return [
        *(variable(argument="environment", name=name, also_secret=name in secrets) for name in plain),
        *(variable(argument="secrets", name=name, also_secret=False) for name in secrets),
        *(secret_arn(name=name, arn=arn) for name, arn in secrets.items() if isinstance(arn, str)),
        *(
            [prefix_plain(prefix=coerce.text(args, "secret_prefix"), argument="secret_prefix")]
            if isinstance(args.get("secret_prefix"), str)
            else []
        ),
    ]


def _storage(args: Mapping[str, object]) -> list[Finding]:
    findings: list[Finding] = []
    if args.get("bucket") is not None:
        bucket = coerce.mapping(args, "bucket")
        prefixes = bucket.get("prefixes")
        number = len(prefixes) if isinstance(prefixes, Sequence) and not isinstance(prefixes, str) else 0
        findings.append(bucket_whole(arn=bucket.get("arn") is not None, prefixes=number))
        findings += [prefix_plain(prefix=each) for each in coerce.texts(bucket, "prefixes")]
    if args.get("files") is not None:
        files = coerce.mapping(args, "files")
        there = files.get("file_system_id") is not None
        findings.append(mount_path(path=coerce.text(files, "path", "/mnt"), file_system=there))
    return findings


def validate_command(characters: int) -> list[Finding]:
    """The finding on the length of a job's command, as Batch sends it to ECS."""
    return [command_fits(characters=characters)]
