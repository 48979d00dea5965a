"""GPUs that jobs on Slurm hold and held, by its accounting (sacct): all of the partitions of the environment's pools.

Source: slurm.schedmd.com/sacct.html (AllocTRES), tres.html (gres/gpu, and gres/gpu:MODEL beside it).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from gpufleet.errors import UserError
from gpufleet.jobs.settings import JobSettings
from gpufleet.jobs.slurm.client import SlurmClient
from gpufleet.usage.allocation import UNKNOWN, GpuAllocation

FIELDS = ("JobIDRaw", "JobName", "User", "Account", "Partition", "Start", "End", "AllocTRES")
_GPUS = re.compile(r"(?:^|,)gres/gpu=(\d+)")


def allocated_on_slurm(settings: JobSettings, since: datetime, now: datetime) -> list[GpuAllocation]:
    """What jobs held from a time on. Errors: UserError, also on a cluster without accounting."""
    slurm = settings.slurm
    if slurm is None:
        raise UserError(f"{settings.environment}: its outputs have no Slurm (jobs.slurm)")
    partitions = sorted({pool.partition for pool in slurm.pools.values()})
    rows = SlurmClient(slurm.target.machine).accounting_since(since, partitions, FIELDS)
    if rows is None:
        raise UserError(
            f"{settings.environment}: its Slurm keeps no accounting, so usage is not known; set AccountingStorageType "
            "in slurm.conf (slurmdbd)"
        )
    return list(allocations_of(rows, settings, now))


def allocations_of(rows: Iterable[Sequence[str]], settings: JobSettings, now: datetime) -> Iterator[GpuAllocation]:
    """One record for each job with GPUs that has started. rows: of FIELDS."""
    assert settings.slurm is not None
    pools = {pool.partition: pool for pool in settings.slurm.pools.values()}
    for identity, name, user, account, partition, begun, ended, granted in rows:
        gpus, start = _GPUS.search(granted), _time(begun)
        if gpus is None or start is None or start > now:
            continue
        end, pool = _time(ended), pools.get(partition)
        yield GpuAllocation(
            uid=f"{identity}@{begun}",
            environment=settings.environment,
            namespace=partition,
            name=name,
            job=name,
            job_uid=identity,
            user=user or UNKNOWN,
            team=account or UNKNOWN,
            # Slurm's account is whom a job is counted on.
            project=account or settings.project or UNKNOWN,
            pool=pool.name if pool else "",
            place="onprem",
            type="",
            region="",
            capacity="",
            gpus=int(gpus[1]),
            node_gpus=None,
            start=start,
            end=None if end is None else max(start, end),
            seen=now,
        )


def _time(text: str) -> datetime | None:
    """A time of Slurm in UTC; None for Unknown and None."""
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
