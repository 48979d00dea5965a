"""The cost of a plan: floor, steady and ceiling, for each pool and for the other resources."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from gpufleet.cost.line_item import FIGURES, LineItem, PriceTag, Total, merge_lines, total_of
from gpufleet.cost.pool_cost import PoolCost, pool_cost
from gpufleet.cost.resources import ResourceCosts
from gpufleet.cost.usage_assumptions import AMOUNTS, HOURS, OF_POOLS, UsageAssumptions
from gpufleet.plan.pools import planned_pools
from gpufleet.plan.resource import Plan


@dataclass(frozen=True)
class Estimate:
    """What a plan costs by the catalog. It is not a bill: list prices before tax, and stated assumptions.

    other_lines: lines of resources outside the pools, each once. free: types that cost nothing by themselves, with the
    number of resources; not_priced: types that the table does not know, which are in no figure. types: all there are.
    assumed: keys of the assumptions that figures rest on.
    """

    stack: str
    pools: tuple[PoolCost, ...]
    other_lines: tuple[LineItem, ...]
    usage: UsageAssumptions
    today: date
    free: Mapping[str, int]
    not_priced: Mapping[str, int]
    types: frozenset[str]
    assumed: frozenset[str]

    @property
    def clouds(self) -> tuple[str, ...]:
        """The clouds whose catalogs it is by."""
        packages = {resource.split(":")[0].split("_")[0] for resource in self.types}
        return tuple(cloud for cloud, package in (("aws", "aws"), ("azure", "azure-native")) if package in packages)

    @property
    def lines(self) -> Iterator[tuple[str, LineItem]]:
        """Every line, with its pool's name, or empty for the surroundings."""
        for pool in self.pools:
            yield from ((pool.name, line) for line in pool.lines)
        yield from (("", line) for line in self.other_lines)

    @cached_property
    def totals(self) -> Mapping[str, Total]:
        """The whole stack, by figure."""
        return {figure: total_of((line for _, line in self.lines), figure) for figure in FIGURES}

    @cached_property
    def busy_month(self) -> Total:
        """A month in which every pool has max nodes in the busy hours and min in all others; the rest as in steady.

        Unlike steady it moves when a type changes of which no node is desired yet.
        """
        busy = self.usage.busy_hours / HOURS
        months = [
            _between(line.month("floor"), line.month("ceiling"), busy) if pool else line.month("steady")
            for pool, line in self.lines
        ]
        known = [month for month in months if month is not None]
        return Total(sum(known), len(months) - len(known))

    @cached_property
    def gated(self) -> Total:
        """The ceiling without what was bought elsewhere: reserved nodes are paid for with or without this stack."""
        return total_of((line for pool, line in self.lines if not (pool and line.committed)), "ceiling")

    @cached_property
    def bought_elsewhere(self) -> Total:
        """Reserved nodes that are paid for with or without this stack. The same in all three figures."""
        return total_of((line for pool, line in self.lines if pool and line.committed), "ceiling")

    @property
    def unknowns(self) -> list[str]:
        """Lines that are not in the totals, and why."""
        return [
            f"{pool or ', '.join(line.resources) or self.stack}: {line.what}: {line.reason}"
            for pool, line in self.lines
            if line.unknown
        ]

    @property
    def tags(self) -> list[PriceTag]:
        """The prices that take part, each once, by what they are of."""
        found = {line.price for _, line in self.lines if line.price.usd is not None}
        return sorted(found, key=lambda tag: (tag.of, tag.as_of))

    @property
    def old(self) -> list[str]:
        """Prices in use that are older than 180 days, each once."""
        return [f"{tag.of}: of {tag.as_of}" for tag in self.tags if tag.is_old(self.today)]

    @property
    def assumptions(self) -> list[str]:
        """The assumptions that the figures rest on, in words."""
        amounts = ((getattr(self.usage, key), *words) for key, words in AMOUNTS.items() if key in self.assumed)
        said = [f"assumed: {amount:g} {unit} {what}" for amount, unit, what in amounts if amount is not None]
        return said + [f"assumed: {nodes} nodes of {pool} in busy hours" for pool, nodes in self.usage.busy_nodes]


def estimate(plan: Plan, usage: UsageAssumptions | None = None, today: date | None = None) -> Estimate:
    """The cost of a plan, of our components or of any other program.

    usage: assumptions, the defaults when None. today: for prices that are old and support that has ended.
    """
    usage = usage or UsageAssumptions()
    today = today or date.today()
    pools = planned_pools(plan)
    priced = [pool_cost(pool, plan, usage) for pool in pools]
    costs = ResourceCosts(plan, frozenset(pool.resource.urn for pool in pools), usage, today)
    return Estimate(
        stack=plan.stack,
        # The engine registers in no fixed order: sorted, the same program gives the same table.
        pools=tuple(sorted(priced, key=lambda pool: (pool.planned.gpu is False, pool.name))),
        other_lines=tuple(merge_lines(sorted(costs.lines, key=lambda line: (line.what, line.resources)))),
        usage=usage,
        today=today,
        free=costs.free,
        not_priced=costs.not_priced,
        types=frozenset(resource.type for resource in plan.resources),
        assumed=costs.assumed | (OF_POOLS if pools else frozenset()),
    )


def _between(low: float | None, high: float | None, share: float) -> float | None:
    """What costs `high` for a share of the month, and `low` for the rest."""
    return None if low is None or high is None else low + (high - low) * share
