"""What runs in one environment now: pools with their nodes, GPUs and cost an hour, and jobs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from gpufleet.errors import UserError
from gpufleet.fleet.clusters import ClusterState, query_cluster
from gpufleet.fleet.node_pools import NodePool
from gpufleet.jobs.settings import JobSettings
from gpufleet.usage.allocation import GpuAllocation
from gpufleet.usage.backends import allocated_by_backend
from gpufleet.usage.records import rates_of_pools
from gpufleet.usage.rows import Price, prices
from gpufleet.usage.running_jobs import running_jobs


@dataclass(frozen=True)
class LivePool:
    """A pool of nodes; without Kubernetes, what jobs hold of it.

    ready, nodes, gpus: None where whatever runs the jobs does not tell. used: GPUs that jobs hold. usd_hour: list price
    of what runs, None where a node has none.
    """

    name: str
    ready: int | None
    nodes: int | None
    gpus: int | None
    used: int
    usd_hour: float | None


@dataclass(frozen=True)
class LiveState:
    """cluster: also for an environment whose jobs do not run on Kubernetes. now: in UTC."""

    environment: str
    now: datetime
    pools: tuple[LivePool, ...]
    cluster: ClusterState

    @property
    def usd_hour(self) -> tuple[float, bool]:
        """All pools together, and whether every price is known."""
        known = [each.usd_hour for each in self.pools if each.usd_hour is not None]
        return sum(known), len(known) == len(self.pools)


def live_state(settings: JobSettings, now: datetime) -> LiveState:
    """Ask the environment's cluster, or whatever runs its jobs. Errors: UserError where it does not answer."""
    price = prices(rates_of_pools(settings, settings.usd_per_gpu_hour))
    nothing = ClusterState(settings.environment, "", on=settings.on)
    if settings.on != "kubernetes":
        records = [each for each in allocated_by_backend(settings, now, now) if each.end is None]
        cluster = ClusterState(settings.environment, "", jobs=tuple(running_jobs(records)), on=settings.on)
        return LiveState(settings.environment, now, tuple(_allocated(records, price)), cluster)
    cluster = query_cluster(nothing, settings.kubeconfig)
    if cluster.fault:
        raise UserError(f"{settings.environment}: {cluster.fault}")
    return LiveState(settings.environment, now, tuple(_pool(each, price) for each in cluster.pools), cluster)


def _pool(pool: NodePool, price: Price) -> LivePool:
    # Every node that exists is paid for, ready or not.
    worth = [0.0 if node.node_gpus is None else _times(price(node), node.node_gpus) for node in pool.nodes]
    return LivePool(pool.name or "-", pool.ready, len(pool.nodes), pool.gpus, pool.used, _sum(worth))


def _allocated(records: Iterable[GpuAllocation], price: Price) -> Iterator[LivePool]:
    groups: dict[str, list[GpuAllocation]] = {}
    for each in records:
        groups.setdefault(each.pool or each.type or "-", []).append(each)
    for name, group in sorted(groups.items()):
        worth = [_times(price(each), each.gpus) for each in group]
        yield LivePool(name, None, None, None, sum(each.gpus for each in group), _sum(worth))


def _times(usd: float | None, gpus: int) -> float | None:
    return None if usd is None else usd * gpus


def _sum(parts: Iterable[float | None]) -> float | None:
    found = list(parts)
    return None if any(each is None for each in found) else sum(each or 0.0 for each in found)
