"""A job as a user requests it, independent of the back end."""

import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from gpufleet.documents.yaml import read_yaml
from gpufleet.errors import UserError
from gpufleet.jobs.mpi_run import is_mpirun
from gpufleet.jobs.torchrun import LAUNCHERS, is_torchrun
from gpufleet.jobs.variables import validate_variables
from gpufleet.rules.arguments import argument_given, validate_arguments
from gpufleet.rules.messages import format_value, use_one_of


class JobRequest(TypedDict):
    """Keys of a job's YAML file; each is an option of `gpufleet jobs submit` too."""

    command: Sequence[str]
    """What every rank runs."""
    workers: NotRequired[int]
    """Kubernetes: pods with GPUs, each on a node of its own or sharing one, all in one zone; required. AWS and Azure
    Batch: the same as nodes."""
    name: NotRequired[str]
    """Default: made from the command and the time."""
    launcher: NotRequired[str]
    """What starts the ranks: mpi, or torchrun for PyTorch programs, which needs no OpenMPI. On Kubernetes it needs
    JobSet. Default mpi."""
    gpus: NotRequired[int]
    """GPUs, and so processes, of each worker. Default: all of a node; AWS Batch: as the job definition says."""
    image: NotRequired[str]
    """NAME[:TAG] of the environment's registry, or a full name. A NAME alone is the image that `gpufleet images build`
    pushed last; so is the default, for the only repository."""
    env: NotRequired[Mapping[str, str]]
    """Variables of every rank. Others can read them, so that what looks like a secret is rejected."""
    secrets: NotRequired[Mapping[str, str]]
    """Variables of every rank whose values are secrets: the name of each, as `gpufleet secrets put` stores it.
    Kubernetes: SECRET or SECRET/KEY in the team's namespace. AWS Batch: also an ARN. Azure Batch: in the environment's
    key vault. Slurm, hosts: also the path of your own file with mode 600."""
    queue: NotRequired[str]
    """Default: the environment's."""
    retries: NotRequired[int]
    """Default 0; AWS Batch: as the job definition says."""
    time_limit_minutes: NotRequired[int]
    """Default: none; AWS Batch: as the job definition says."""
    shared_memory_gib: NotRequired[int]
    after: NotRequired[str]
    """Run it when this job has succeeded."""

    pool: NotRequired[str]
    """Default: the environment's only one."""
    pools: NotRequired[Sequence[str]]
    """Kubernetes, with a queue that overflows: pools in order, taken one after the other when capacity does not come.
    Default: the environment's, where no pool, gpu or place is given."""
    gpu: NotRequired[str]
    """GPU model of the nodes, for instance V100, instead of a pool."""
    place: NotRequired[str]
    """Where the nodes are: onprem or another place of on-prem servers, cloud, or any. Default with gpu: any."""
    prefer: NotRequired[str]
    """With place any: the place that is taken while it has room. Default: that of on-prem servers; with a queue its
    order decides."""
    grace_seconds: NotRequired[int]
    """Default: what AWS's or Azure's Spot notice leaves."""
    image_pull_secret: NotRequired[str]
    """Default: the environment's."""
    volume_claim: NotRequired[str]
    """Default: the environment's shared volume."""
    read_claims: NotRequired[Mapping[str, str]]
    """Kubernetes: claims that are mounted to be read only, by path, beside the environment's."""
    user: NotRequired[str]
    """Kubernetes: the team's user under whose uid it runs. Default: the user who is logged in here, where the
    environment has users; else uid 1000."""

    nodes: NotRequired[int]
    """Nodes of a multi-node job. Default: one; on AWS Batch of the definition of single jobs."""
    array: NotRequired[int]
    """Children of an array, 2 to 10,000. Default: one for each row of parameters; without these, no array."""
    params: NotRequired[str]
    """CSV file of parameters: a line of names, and a row for each child."""
    grid: NotRequired[Mapping[str, Sequence[object]]]
    """Values by name of a parameter: a child for each combination."""
    vcpus: NotRequired[int]
    """vCPUs of each node's container. Default: the job definition's, in proportion to the GPUs."""
    memory_gib: NotRequired[int]
    """The same for memory."""
    share: NotRequired[str]
    """Whose share of the queue it counts on. Default: the environment's."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of the job, beside environment and project."""

    script: NotRequired[str]
    """A program here, or a directory of it, that the job starts in."""


_AWS_ONLY = ("array", "params", "grid", "vcpus", "memory_gib", "share")
_PLACES = ("gpu", "place", "prefer")
_IN_ORDER = "is for Kubernetes, with gpufleet:queue.overflow; "
_UNSUPPORTED_ON_SERVERS = {
    "pools": f"{_IN_ORDER}here use one of pool and gpu",
    **dict.fromkeys(("array", "params", "grid"), "is for AWS Batch (--on batch); submit each run"),
    "tags": "is for AWS Batch and Azure Batch",
    "grace_seconds": "is for Kubernetes",
    "image_pull_secret": "is for Kubernetes; Apptainer pulls as you do, see `apptainer registry login`",
    "volume_claim": "is for Kubernetes; the shared directory is there at its own path",
    "read_claims": "is for Kubernetes; the servers' own mounts are there",
    "user": "is for Kubernetes; here a job runs as who logs in on the servers, see ssh in the environment's outputs",
    "shared_memory_gib": "is for Kubernetes and AWS Batch; on on-prem servers a job has all of its node's",
}
_UNSUPPORTED_KEYS = {
    "kubernetes": {
        **dict.fromkeys((*_AWS_ONLY, "nodes", "tags"), "is for AWS Batch (--on batch)"),
        "script": "is for AWS Batch, Azure Batch, Slurm and hosts; on Kubernetes copy it with `gpufleet data put`",
    },
    "batch": {
        "pools": f"{_IN_ORDER}on AWS Batch the queue has an order of compute environments, use --queue",
        **dict.fromkeys(_PLACES, "is for Kubernetes; on AWS Batch the queue finds the nodes, use --queue"),
        "pool": "is for Kubernetes; on AWS Batch the queue finds the nodes, use --queue",
        "grace_seconds": "is for Kubernetes; AWS Batch always gives 30 s",
        "user": "is for Kubernetes; on AWS Batch the access point of the shared files says whose they are",
        "image_pull_secret": "is for Kubernetes; on AWS Batch the job definition's execution role pulls",
        "volume_claim": "is for Kubernetes; on AWS Batch the job definition mounts the shared files",
        "read_claims": "is for Kubernetes; on AWS Batch a job reads buckets by its role",
    },
    "azure-batch": {
        "pools": f"{_IN_ORDER}on Azure Batch use --pool",
        **dict.fromkeys(_PLACES, "is for Kubernetes; on Azure Batch a pool has the nodes, use --pool"),
        **dict.fromkeys(_AWS_ONLY, "is for AWS Batch (--on batch)"),
        "array": "is for AWS Batch (--on batch); on Azure Batch submit each run",
        "queue": "is for Kubernetes and AWS Batch; on Azure Batch a pool has the nodes, use --pool",
        "grace_seconds": "is for Kubernetes; Azure Batch does not say how long it waits",
        "user": "is for Kubernetes; on Azure Batch a job runs as the pool's own user",
        "image_pull_secret": "is for Kubernetes; on Azure Batch the pool's identity pulls",
        "volume_claim": "is for Kubernetes; on Azure Batch the pool mounts the storage account's containers",
        "read_claims": "is for Kubernetes; on Azure Batch the pool mounts the storage account's containers",
        "shared_memory_gib": "is for Kubernetes and AWS Batch; on Azure Batch containers have all of their node's",
    },
    "slurm": {
        **_UNSUPPORTED_ON_SERVERS,
        "queue": "is for Kubernetes and AWS Batch; on Slurm a pool names the partition, use --pool",
        "place": "is for Kubernetes; on Slurm use --pool or --gpu",
        "prefer": "is for Kubernetes; on Slurm use --pool or --gpu",
    },
    "hosts": {
        **_UNSUPPORTED_ON_SERVERS,
        **dict.fromkeys(
            ("queue", "pool", "share"), "is for clusters with a scheduler; hosts are taken when they are free"
        ),
        **dict.fromkeys(("gpu", "place", "prefer"), "is for Kubernetes; list hosts alike in a separate environment"),
        **dict.fromkeys(("vcpus", "memory_gib"), "is for AWS Batch and Slurm; a job on hosts has all of them"),
    },
}
"""Keys that a back end does not support, and why."""


def read_request(file: Path) -> dict[str, object]:
    """A job's YAML file. Errors: UserError if the file cannot be read or is not a mapping."""
    content = read_yaml(file, "give a job's YAML file")
    if not isinstance(content, dict):
        raise UserError(f"{file}: must be a mapping; write `workers: 2` and `command: [python3, train.py]`")
    # A key without a value is as good as none: `retries:` under the one that is meant.
    content = {key: value for key, value in content.items() if value is not None}
    if isinstance(content.get("command"), str):
        content["command"] = _words(content["command"], file)
    return content


def parse_request(request: Mapping[str, object], where: str, on: str = "kubernetes") -> JobRequest:
    """on: the back end, one of `gpufleet.jobs.settings.BACKENDS`.

    Errors: UserError with a line for every unknown, missing or wrongly typed key.
    """
    findings = validate_arguments(request, JobRequest)
    if on == "kubernetes":
        given = request.get("workers") is not None
        findings.append(argument_given(name="workers", given=given, says="a whole number"))
    lines = [each.line(where) for each in findings if each.rejects]
    others = _UNSUPPORTED_KEYS[on]
    lines += [f"{where}: {key}={format_value(request[key])}: {others[key]}" for key in request if key in others]
    lines += validate_variables(request, where)
    lines += [] if lines else _launcher_errors(request, where)
    if not lines and not request["command"]:
        lines = [f"{where}: command=[]: nothing to run; end the line with -- python3 train.py"]
    if lines:
        raise UserError("\n".join(lines))
    return cast("JobRequest", dict(request))


def _launcher_errors(request: Mapping[str, Any], where: str) -> list[str]:
    launcher = request.get("launcher", LAUNCHERS[0])
    if launcher not in LAUNCHERS:
        deepspeed = "; DeepSpeed programs run under torchrun" if launcher == "deepspeed" else ""
        return [f"{where}: launcher={format_value(launcher)}: {use_one_of(launcher, LAUNCHERS)}{deepspeed}"]
    if launcher == "torchrun" and is_torchrun(request["command"]):
        return [
            f"{where}: command={request['command'][0]}: leave torchrun out; launcher=torchrun starts it on each node"
        ]
    if launcher == "torchrun" and request["command"] and is_mpirun(request["command"]):
        return [f"{where}: command={request['command'][0]}: is for launcher=mpi; name the program alone"]
    return []


def uses_torchrun(request: JobRequest) -> bool:
    return request.get("launcher") == "torchrun"


def node_count(request: JobRequest) -> int:
    """How many nodes a request asks for, where `workers` is the same as `nodes`."""
    return request.get("nodes", request.get("workers", 1))


def default_job_name(command: Sequence[str], now: datetime) -> str:
    """A name from the program and the time of submission: train-1121-150405-3f2a."""
    program = next((word for word in command if word.endswith((".py", ".sh"))), command[0] if command else "job")
    stem = re.sub(r"[^a-z0-9]+", "-", Path(program).stem.lower()).strip("-")
    # A DNS label begins with a letter, and the operator puts -worker-511 behind it.
    stem = stem if stem[:1].isalpha() else f"job-{stem}".rstrip("-")
    return f"{stem[:24].rstrip('-')}-{now:%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _words(command: str, file: Path) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UserError(f"{file}: command={command}: {error}; write a list: [python3, train.py]") from error
