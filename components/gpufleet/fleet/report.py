"""The result of `gpufleet ps`, for every output format."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from gpufleet.cost.line_item import Total
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.gpu_jobs import GpuJob

if TYPE_CHECKING:
    from gpufleet.fleet.clusters import ClusterState


@dataclass(frozen=True)
class FleetReport:
    """backend: its URL without its query. environments: in the order in which they are shown. now: in UTC."""

    backend: str
    environments: Sequence[EnvironmentSummary]
    clusters: Sequence["ClusterState"]
    now: datetime

    @property
    def today(self) -> date:
        return self.now.date()

    def cluster_of(self, environment: EnvironmentSummary) -> "ClusterState | None":
        """The cluster of a stack, where a context leads to it and it answers."""
        found = (each for each in self.clusters if not each.fault and each.host.lower() in _lower(environment))
        return next(found, None)

    @property
    def expired(self) -> list[EnvironmentSummary]:
        return [each for each in self.environments if each.expired(self.now)]

    @property
    def hung(self) -> Iterator[tuple["ClusterState", GpuJob]]:
        yield from ((cluster, job) for cluster in self.clusters for job in cluster.jobs if job.hung)

    @property
    def faults(self) -> list[str]:
        """What could not be read, a line each."""
        unread = [each.fault for each in self.environments if each.fault]
        return unread + [f"{each.context}: {each.fault}" for each in self.clusters if each.fault]

    def total(self, figure: str) -> Total:
        """All environments together."""
        return total_cost(self.environments, figure)


def total_cost(environments: Iterable[EnvironmentSummary], figure: str) -> Total:
    """These environments together; those that cannot be read are left out."""
    known = [each.costs[figure] for each in environments if each.costs]
    return Total(sum(each.month for each in known), sum(each.unknown for each in known))


def _lower(environment: EnvironmentSummary) -> frozenset[str]:
    return frozenset(host.lower() for host in environment.endpoints)
