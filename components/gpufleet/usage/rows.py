"""GPU-hours and USD in a period, by team, user or project."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from gpufleet.catalog import AwsGpuType, AzureGpuSize, Catalog, aws, azure
from gpufleet.cost.prices import node_price, spot_range
from gpufleet.fleet.node_facts import NodeFacts
from gpufleet.usage.allocation import GpuAllocation

GROUPINGS = ("team", "user", "project")


@dataclass(frozen=True, slots=True)
class UsageRow:
    """The usage of one of them. usd: of the hours with a price; unpriced: GPU-hours without any, never counted as 0.

    inexact: GPU-hours whose begin or end is not the pod's own.
    """

    name: str
    jobs: int
    gpu_hours: float
    usd: float
    unpriced: float
    inexact: float


Price = Callable[[GpuAllocation | NodeFacts], float | None]
"""USD for one GPU for one hour; None: not known."""


def prices(own: Mapping[str, float]) -> Price:
    """Prices by the catalog: a node's price by its type and region, divided by its GPUs.

    own: what an hour of one GPU costs in pools by the label of their nodes: of own servers, which are in no price list,
    or reserved ones. Of Spot nodes the highest price that the catalog has: it changes all the time.
    """

    def price(held: GpuAllocation | NodeFacts) -> float | None:
        if held.pool in own:
            return own[held.pool]
        cloud = next((name for name, known in _CLOUDS.items() if held.type in known().types), None)
        if cloud is None or not held.region:
            return None
        gpus = held.node_gpus or _CLOUDS[cloud]().types[held.type].gpus
        if held.capacity == "spot":
            found = spot_range(cloud, [held.type], held.region)
            return None if found is None else found.high / gpus
        if held.capacity not in ("", "on-demand"):
            return None
        usd = node_price(cloud, held.type, held.region).usd
        return None if usd is None else usd / gpus

    return price


_CLOUDS: Mapping[str, Callable[[], Catalog[AwsGpuType] | Catalog[AzureGpuSize]]] = {"aws": aws, "azure": azure}


def usage_rows(
    records: Iterable[GpuAllocation], since: datetime, until: datetime, by: str, price: Price
) -> list[UsageRow]:
    """A row for each team, user or project that held GPUs between two times, the most GPU-hours first.

    by: one of BY. Records of one uid are one pod's, so that there may be one of each only: see `merged`.
    """
    groups: dict[str, list[tuple[GpuAllocation, float]]] = {}
    for each in records:
        hours = each.gpus * each.seconds(since, until) / 3600
        if hours > 0:
            groups.setdefault(str(getattr(each, by)), []).append((each, hours))
    rows = [_row(name, group, price) for name, group in groups.items()]
    return sorted(rows, key=lambda row: (-row.gpu_hours, row.name))


def total_row(rows: Iterable[UsageRow]) -> UsageRow:
    """All rows together: of the whole organisation, as far as the records reach."""
    every = list(rows)
    return UsageRow(
        "all",
        sum(row.jobs for row in every),
        sum(row.gpu_hours for row in every),
        sum(row.usd for row in every),
        sum(row.unpriced for row in every),
        sum(row.inexact for row in every),
    )


def _row(name: str, group: list[tuple[GpuAllocation, float]], price: Price) -> UsageRow:
    worth = [(hours, price(held)) for held, hours in group]
    return UsageRow(
        name,
        len({(held.environment, held.namespace, held.job_uid or held.job) for held, _ in group}),
        sum(hours for hours, _ in worth),
        sum(hours * usd for hours, usd in worth if usd is not None),
        sum(hours for hours, usd in worth if usd is None),
        sum(hours for held, hours in group if not held.exact),
    )
