"""Rules on a whole MPI job: its name, its size, its time; and the validation of MPI jobs."""

import re
from collections.abc import Mapping

from gpufleet.catalog import AwsGpuType, GpuType, aws, azure
from gpufleet.rules import coerce
from gpufleet.rules.efa import NETWORKS
from gpufleet.rules.generic import allowed_choice, at_least, not_empty
from gpufleet.rules.kubernetes.mpi_image import validate_image
from gpufleet.rules.kubernetes.mpi_placement import validate_placement
from gpufleet.rules.kubernetes.mpi_pods import validate_pods
from gpufleet.rules.kubernetes.name import name_form
from gpufleet.rules.kubernetes.users import login_name
from gpufleet.rules.labels import key_form, value_form
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

_NAME = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_LONGEST = 63
_COUNTS = (("retries", 0), ("time_limit_seconds", 1), ("ttl_seconds", 0), ("gid", 0))
"""Arguments that are numbers, with the least of each."""
_NAMES = ("namespace", "pool", "volume_claim", "queue", "image_pull_secret", "service_account")


@rule("any-mpi-name", Severity.ERROR)
def job_name(*, name: str, workers: int) -> Outcome:
    """A job's name begins with a letter and leaves room for `-worker-` and the last worker's number, in 63 characters.

    Source: kubeflow/mpi-operator v0.7.0, pkg/apis/kubeflow/validation: <job>-worker-<n> has to be a DNS label (RFC
    1035), for workers are hosts; the API server takes any name, the operator then never makes a pod.
    """
    longest = _LONGEST - max(len(f"-worker-{max(workers, 1) - 1}"), len("-launcher"))
    if not _NAME.fullmatch(name):
        fix = "use lower-case letters, digits and - between them, a letter first, such as resnet-1"
        return failed("name", name, "is not a valid host name", fix)
    if len(name) > longest:
        problem = f"is {len(name)} characters long, too long for the hosts {workers} workers become"
        return failed("name", name, problem, f"use {longest} or fewer")
    return passed()


@rule("any-mpi-workers", Severity.ERROR)
def worker_count(*, workers: int) -> Outcome:
    """An MPI job has at least one worker.

    Source: kubeflow/mpi-operator#833: the API server accepts 0, an event says ValidationError, and the launcher is
    never made.
    """
    if workers >= 1:
        return passed()
    return failed("workers", workers, "no launcher is ever made for it", "use 1 or more")


@rule("any-mpi-gpus", Severity.ERROR)
def gpu_count(*, gpus: int, type_name: str, of_node: int | None, most: int) -> Outcome:
    """A worker asks for at least one GPU and for no more than a node has; `most` is the most that any type has.

    `of_node`: GPUs of the instance type, None where no type is given or the catalog lacks it.
    Source: the catalog; Kubernetes leaves such a pod Pending for ever (Insufficient nvidia.com/gpu).
    """
    if gpus < 1:
        return failed("gpus_per_worker", gpus, "is below 1", "use 1 or more")
    if of_node is not None and gpus > of_node:
        fix = "use 1" if of_node == 1 else f"use 1 to {of_node}"
        return failed("gpus_per_worker", gpus, f"is more than the {of_node} of {type_name}", fix)
    if of_node is None and gpus > most:
        return failed("gpus_per_worker", gpus, f"is more than the {most} of any node", f"use 1 to {most}")
    if of_node is None and type_name:
        fix = "make sure that its nodes have as many GPUs"
        return unverified("gpus_per_worker", gpus, f"{type_name} is not in the catalog", fix)
    return passed()


@rule("any-mpi-grace", Severity.ERROR)
def grace_long_enough(*, seconds: int) -> Outcome:
    """Ranks get at least 10 s between notice and end to save their state.

    Source: our choice; Kubernetes' own 30 are too few for large models (pytorch/pytorch#68258).
    """
    if seconds >= 10:
        return passed()
    return failed("grace_seconds", seconds, "leaves ranks no time to save", "use 10 or more")


@rule("any-mpi-grace-spot", Severity.WARNING)
def grace_within_notice(*, seconds: int, notice: int, whose: str) -> Outcome:
    """A job's grace period ends before a Spot node is reclaimed, `notice` seconds after notice by the cloud `whose`.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html (two minutes),
    https://learn.microsoft.com/azure/virtual-machines/spot-vms (30 seconds).
    """
    if seconds <= notice:
        return passed()
    problem = f"is longer than the {notice} s after which {whose} takes a Spot node"
    return failed("grace_seconds", seconds, problem, f"use {notice - notice // 6} or less, or nodes on demand")


@rule("aws-mpi-efa", Severity.ERROR)
def efa_count(*, network: str, wanted: int | None, type_name: str, of_node: int | None) -> Outcome:
    """EFA interfaces are asked of nodes that have so many, and with network=efa only.

    `wanted` is None where the job leaves the number open; `of_node`: interfaces of the instance type, None where no
    type is given or the catalog lacks it.
    Source: EfaInfo of DescribeInstanceTypes, as the catalog has it; Kubernetes leaves such a pod Pending for ever.
    """
    if network != "efa":
        if not wanted:
            return passed()
        return failed("efa_per_worker", wanted, f"is not used with network={network}", "leave it out, or use efa")
    if of_node == 0:
        return failed("network", network, f"{type_name} has no EFA", "use network=plain, or a type with EFA")
    if wanted is not None and wanted < 1:
        return failed("efa_per_worker", wanted, "is below 1 with network=efa", "use 1 or more, or network=plain")
    if wanted is not None and of_node is not None and wanted > of_node:
        fix = "use 1" if of_node == 1 else f"use 1 to {of_node}"
        return failed("efa_per_worker", wanted, f"is more than the {of_node} of {type_name}", fix)
    if of_node is None:
        return unverified("network", network, "which nodes have EFA is not known", "give the instance_type")
    return passed()


def gpu_type(name: str) -> GpuType | None:
    """What the catalogs know about an instance type, of whichever cloud."""
    return aws().types.get(name) or azure().types.get(name)


def validate_mpi_job(name: str, args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the MPI job ``name``, passes included. Never raises, whatever the values.

    Reads all of `gpufleet.jobs.kubernetes.mpi_job.MpiJobArgs`; names and kinds of the arguments are for
    `validate_arguments`.
    """
    workers = coerce.whole(args, "workers", 1)
    gpus = coerce.whole(args, "gpus_per_worker", 1)
    type_name = coerce.text(args, "instance_type")
    network = coerce.text(args, "network", "plain")
    record = gpu_type(type_name)
    efa = record.efa_interfaces if isinstance(record, AwsGpuType) else 0 if record else None
    grace = coerce.whole(args, "grace_seconds", 10)
    notice, whose = (30, "Azure") if type_name in azure().types else (120, "AWS")
    wanted = coerce.whole(args, "efa_per_worker", 0) if coerce.is_whole(args.get("efa_per_worker")) else None
    most = max(each.gpus for catalog in (aws(), azure()) for each in catalog.types.values())
    findings = [
        job_name(name=coerce.text({"name": name}, "name"), workers=workers),
        worker_count(workers=workers),
        gpu_count(gpus=gpus, type_name=type_name, of_node=record.gpus if record else None, most=most),
        allowed_choice(argument="network", word=network, legal=NETWORKS),
        efa_count(network=network, wanted=wanted, type_name=type_name, of_node=efa),
        grace_long_enough(seconds=grace),
        grace_within_notice(seconds=grace, notice=notice, whose=whose),
        *(
            at_least(argument=argument, value=coerce.whole(args, argument, least), least=least)
            for argument, least in _COUNTS
        ),
        *(name_form(argument=each, name=coerce.text(args, each)) for each in _NAMES if isinstance(args.get(each), str)),
        *validate_image(args),
        *validate_placement(args),
        *validate_pods(args, record),
    ]
    if coerce.is_texts(args.get("command")):
        findings.append(not_empty(argument="command", values=coerce.texts(args, "command"), holds="word"))
    if isinstance(args.get("user"), str):
        findings.append(login_name(name=coerce.text(args, "user")))
    for key, value in coerce.mapping(args, "labels").items():
        findings += [key_form(argument="labels", key=key)]
        findings += [value_form(argument=f"labels.{key}", value=value)] if isinstance(value, str) else []
    return findings
