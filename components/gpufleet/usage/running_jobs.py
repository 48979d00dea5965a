"""What runs now on AWS Batch, Azure Batch and Slurm, from the records of held GPUs."""

from collections.abc import Iterable

from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.stack_state import StackState
from gpufleet.plan.property_values import get_path
from gpufleet.usage.allocation import UNKNOWN, GpuAllocation


def running_jobs(records: Iterable[GpuAllocation]) -> list[GpuJob]:
    """The jobs that hold GPUs still, by name; an array's children are one job."""
    groups: dict[tuple[str, str], list[GpuAllocation]] = {}
    for each in records:
        if each.end is None:
            groups.setdefault((each.namespace, each.job_uid), []).append(each)
    jobs = [_job(group) for group in groups.values()]
    return sorted(jobs, key=lambda job: (job.namespace, job.name))


def back_end_of(state: StackState) -> str:
    """What runs a stack's jobs beside or instead of Kubernetes; empty where nothing does."""
    root = next((each for each in state.resources if each.get("type") == "pulumi:pulumi:Stack"), {})
    on = get_path(root.get("outputs"), "jobs", "on")
    if on in ("batch", "azure-batch", "slurm"):
        return str(on)
    return "azure-batch" if get_path(root.get("outputs"), "jobs", "azure_batch") else ""


def _job(group: list[GpuAllocation]) -> GpuJob:
    first = group[0]
    return GpuJob(
        first.namespace,
        first.job,
        sum(each.gpus for each in group),
        len(group),
        max(each.start for each in group),
        user="" if first.user == UNKNOWN else first.user,
        project="" if first.project == UNKNOWN else first.project,
    )
