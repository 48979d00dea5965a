"""What a pool of nodes costs: its instances, their disks and their public addresses."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpufleet.cost.disks import azure_setting, disk_parts
from gpufleet.cost.line_item import Amounts, LineItem, PriceTag
from gpufleet.cost.prices import SpotRange, catalog_of, highest_price, node_price, service_price, spot_range
from gpufleet.cost.reservations import planned_reservation
from gpufleet.cost.usage_assumptions import HOURS, UsageAssumptions
from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.quota_demand import RESERVED, name_of
from gpufleet.plan.resource import Plan
from gpufleet.rules.coerce import is_whole, texts

NETWORK = {"aws": "vpc", "azure": "network"}
"""Under which service the catalog keeps public addresses."""


@dataclass(frozen=True)
class PoolCost:
    """One pool with its prices.

    name: what users call it. gpus: of one node of its largest type, None where a type is not in the catalog. nodes:
    on average over a month, by figure. lines: instances first, then disks and addresses of the nodes that run.
    """

    planned: PlannedPool
    name: str
    types: tuple[str, ...]
    capacity: str | None
    gpus: int | None
    least: int | None
    most: int | None
    nodes: Amounts
    lines: tuple[LineItem, ...]
    spot: SpotRange | None

    @property
    def most_gpus(self) -> int | None:
        """GPUs at its ceiling; None where a type or max is not known."""
        return None if self.most is None or self.gpus is None else self.most * self.gpus

    @property
    def committed(self) -> bool:
        """Whether its nodes are paid whether used or not, by a purchase that was made elsewhere."""
        return any(line.committed for line in self.lines)


def pool_cost(planned: PlannedPool, plan: Plan, usage: UsageAssumptions) -> PoolCost:
    """Prices of one pool."""
    name = name_of(planned, plan)
    capacity = None if "capacity" in planned.unknown else str(planned.intent.get("capacity", "on-demand"))
    types = texts(planned.intent, "types")
    least, desired, most = _counts(planned)
    busy = usage.nodes_of(planned.resource.name, usage.nodes_of(name, desired))
    made = _made(least, busy, most)
    running = _running(made, usage.busy_hours)
    instances = _instances(planned, plan, types, capacity, running, most)
    return PoolCost(
        planned=planned,
        name=name,
        types=types,
        capacity=capacity,
        gpus=_gpus(planned.cloud, types),
        least=least,
        most=most,
        nodes=running.times(1 / HOURS),
        lines=(instances, *_beside(planned, plan, usage, running, made)),
        spot=spot_range(planned.cloud, types, planned.region) if capacity == "spot" else None,
    )


def _counts(planned: PlannedPool) -> tuple[int | None, int | None, int | None]:
    """min, desired and max; None where a number is not known."""

    def count(word: str, default: int | None) -> int | None:
        value = planned.intent.get(word, default)
        return int(value) if word not in planned.unknown and is_whole(value) and value >= 0 else None

    least = count("min", 0)
    return least, count("desired", least), count("max", None)


def _made(least: int | None, busy: int | None, most: int | None) -> Amounts:
    """Nodes at once, by figure: min, `busy` within min and max, max."""
    if busy is None or least is None:
        return Amounts(least, None, most)
    return Amounts(least, max(busy, least) if most is None else min(max(busy, least), most), most)


def _running(made: Amounts, busy_hours: float) -> Amounts:
    """Hours of nodes in a month. Steady: the busy nodes in busy hours, and min in all others."""
    steady = None
    if made.steady is not None and made.floor is not None:
        steady = made.steady * busy_hours + made.floor * (HOURS - busy_hours)
    return Amounts(made.times(HOURS).floor, steady, made.times(HOURS).ceiling)


def _instances(
    planned: PlannedPool, plan: Plan, types: Sequence[str], capacity: str | None, running: Amounts, most: int | None
) -> LineItem:
    price, factors = _hour(planned, types, capacity)
    what = f"nodes: {' or '.join(types) or 'of types that are not known'}"
    names = (planned.resource.name,)
    if capacity in RESERVED:
        if here := planned_reservation(planned, plan, types):
            note = f"counted with the reservation {here.name}"
            return LineItem(what, names, price, here.beyond(running), note=note)
        return LineItem(what, names, price, Amounts.always(None if most is None else most * HOURS), committed=True)
    if capacity is None:
        note = "how it is bought is not known before deployment; counted as on demand"
        return LineItem(what, names, price, running, note=note)
    if factors and running.ceiling is not None:
        # vCPUs are limited, not nodes: the dearest type may not be the one of which there can be the most.
        running = Amounts(running.floor, running.steady, factors * HOURS)
    note = "at the on-demand price" if capacity == "spot" else ""
    return LineItem(what, names, price, running, note=note)


def _hour(planned: PlannedPool, types: Sequence[str], capacity: str | None) -> tuple[PriceTag, float]:
    """Price of one node of the dearest type, and the nodes of it that cost as much as the dearest full pool.

    The second is 0 where nodes are limited and not vCPUs.
    """
    market = "capacity-block" if capacity == "capacity-block" else "on-demand"
    tags = {name: node_price(planned.cloud, name, planned.region, market) for name in types}
    if not tags:
        return PriceTag("nodes of types that are not known", "hour", None), 0.0
    price = highest_price(list(tags.values()))
    if price.usd is None or not planned.most_by_type:
        return price, 0.0
    full = max(most * (tags[name].usd or 0.0) for name, most in planned.most_by_type.items() if name in tags)
    return price, full / price.usd


def _beside(
    planned: PlannedPool, plan: Plan, usage: UsageAssumptions, running: Amounts, made: Amounts
) -> Iterator[LineItem]:
    names = (planned.resource.name,)
    # A node that is only deallocated keeps its disk, all month.
    kept = made if azure_setting(planned, "scaleDownMode") == "Deallocate" else running.times(1 / HOURS)
    for part in disk_parts(planned, plan, usage):
        amounts = Amounts.always(None) if part.amount is None else kept.times(part.amount)
        yield LineItem(part.what, names, part.price, amounts, note=part.note)
    if planned.intent.get("public_addresses") is True or azure_setting(planned, "enableNodePublicIP") is True:
        price = service_price(planned.cloud, NETWORK[planned.cloud], "public-ipv4", planned.region, "hour")
        yield LineItem("public IPv4 address of each node", names, price, running)


def _gpus(cloud: str, types: Sequence[str]) -> int | None:
    records: Mapping[str, object] = catalog_of(cloud).types
    if not types or any(name not in records for name in types):
        return None
    return max(catalog_of(cloud).types[name].gpus for name in types)
