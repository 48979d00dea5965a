"""Rules on the number of nodes."""

from collections.abc import Sequence

from gpufleet.catalog import AwsGpuType, aws
from gpufleet.rules.generic import at_least
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("any-count-min-max", Severity.ERROR)
def min_within_max(*, least: int, most: int) -> Outcome:
    """The minimum number of nodes is not above the maximum.

    Source: EKS CreateNodegroup: minimum capacity can't be greater than maximum size (InvalidParameterException).
    """
    if least <= most:
        return passed()
    return failed("min", least, f"is above max={most}", f"use {most} or fewer, or raise max")


@rule("any-count-desired", Severity.ERROR)
def desired_within(*, desired: int, least: int, most: int) -> Outcome:
    """The initial number of nodes is between the minimum and the maximum.

    Source: EKS CreateNodegroup: desired capacity can't be below minimum or above maximum (InvalidParameterException).
    """
    if least > most or least <= desired <= most:
        return passed()
    wanted = f"use {least}" if least == most else f"use {least} to {most}"
    return failed("desired", desired, f"is not between min={least} and max={most}", wanted)


@rule("any-count-idle", Severity.INFO)
def idle_nodes(*, least: int, capacity: str) -> Outcome:
    """Nodes that always run are paid for while no job does; reserved capacity is paid for anyway.

    Source: EC2 bills on-demand and Spot instances for each second that they run.
    """
    if least <= 0 or capacity in ("reservation", "capacity-block"):
        return passed()
    nodes = "node runs" if least == 1 else "nodes run"
    return failed("min", least, f"{least} {nodes} and cost money even when no job does", "set min=0 to scale to zero")


@rule("any-pool-fewer-nodes", Severity.INFO)
def fewer_nodes(*, types: Sequence[str], gpu: str, most: int, larger: str, gpus: int) -> Outcome:
    """One node with several GPUs is preferred to several with one; `larger` is a type with `gpus` of the same GPU.

    No `larger`: the types have several GPUs themselves, or none has as few as the pool may reach.

    Source: NCCL user guide, environment variables (NCCL_P2P_LEVEL, NCCL_SHM_DISABLE): GPUs of one node talk by NVLink,
    PCIe or shared memory, those of different nodes by the network.
    """
    if not larger:
        return passed()
    problem = f"{most} nodes of one {gpu} talk over the network"
    fix = f"a job of up to {gpus} GPUs runs faster on one {larger}, which has {gpus} x {gpu}"
    return failed("types", list(types), problem, fix)


def validate_fewer_nodes(records: Sequence[AwsGpuType], most: int, zones: Sequence[str], region: str) -> list[Finding]:
    """The finding on one node before several. `records` are the pool's known types, `most` its greatest size.

    A pool in several zones is one for jobs of a single node, which want no larger one.
    """
    models = {record.gpu_model for record in records}
    model = models.pop() if len(models) == 1 and len(zones) == 1 else ""
    larger = _larger(model, most, region) if model and all(record.gpus == 1 for record in records) else None
    types = [record.type for record in records]
    name, gpus = (larger.type, larger.gpus) if larger else ("", 0)
    return [fewer_nodes(types=types, gpu=model, most=most, larger=name, gpus=gpus)]


def _larger(model: str, most: int, region: str) -> AwsGpuType | None:
    """The smallest type of the region with the most GPUs of a model that a pool of `most` single ones makes use of."""
    found = [
        record
        for record in aws().types.values()
        if record.gpu_model == model
        and 2 <= record.gpus <= most
        and record.retired is None
        and aws().zones_with(record.type, region) != ()
    ]
    return max(found, key=lambda record: (record.gpus, -record.vcpus, record.type), default=None)


def validate_counts(least: int, desired: int, most: int) -> list[Finding]:
    """Every finding on min, desired and max of a pool."""
    return [
        at_least(argument="min", value=least, least=0),
        at_least(argument="desired", value=desired, least=0),
        at_least(argument="max", value=most, least=1),
        min_within_max(least=least, most=most),
        desired_within(desired=desired, least=least, most=most),
    ]
