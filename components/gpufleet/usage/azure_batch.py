"""GPUs that jobs on Azure Batch hold and held: one record for each job, of its last try.

Source: azure.batch.models (BatchTaskExecutionInfo: startTime and endTime are of the last try).
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from gpufleet.errors import UserError
from gpufleet.fleet.stack_state import parse_time
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.jobs import AzureBatchJobs
from gpufleet.jobs.azure_batch.status import AzureBatchJob
from gpufleet.jobs.settings import JobSettings
from gpufleet.usage.allocation import UNKNOWN, GpuAllocation


def allocated_on_azure_batch(settings: JobSettings, now: datetime) -> list[GpuAllocation]:
    """What the environment's jobs hold and held, as far as the account still knows. Errors: UserError."""
    azure = settings.azure_batch
    if azure is None:
        raise UserError(f"{settings.environment}: the stack has no Azure Batch")
    jobs = AzureBatchJobs(AzureBatchClient(azure), azure, settings.environment)
    return list(allocations_of(jobs.list_jobs(), settings, now))


def allocations_of(jobs: Iterable[AzureBatchJob], settings: JobSettings, now: datetime) -> Iterator[GpuAllocation]:
    """One record for each job that has started."""
    azure = settings.azure_batch
    assert azure is not None
    names = {pool.pool_id: pool.name for pool in azure.pools.values()}
    for each in jobs:
        pool = settings.pools.get(names.get(each.pool_id, ""))
        begun, stopped = each.times
        start, end = parse_time(begun), parse_time(stopped)
        if pool is None or not pool.gpus or start is None:
            continue
        told = {str(one.get("name")): str(one.get("value")) for one in each.job.get("metadata") or []}
        yield GpuAllocation(
            uid=f"{azure.account}/{each.name}",
            environment=settings.environment,
            namespace=azure.account,
            name=each.name,
            job=each.name,
            job_uid=each.name,
            user=told.get("user") or UNKNOWN,
            team=told.get("team") or UNKNOWN,
            project=told.get("project") or settings.project or UNKNOWN,
            pool=pool.label,
            place="cloud",
            type=pool.types[0] if len(pool.types) == 1 else "",
            region=azure.region,
            capacity="spot" if azure.pools[pool.name].spot else "on-demand",
            # A task has its nodes to itself.
            gpus=each.nodes * pool.gpus,
            node_gpus=pool.gpus,
            start=start,
            end=None if not each.ended else max(start, end or now),
            seen=now,
            exact=not (each.retries or each.requeues),
        )
