"""What an hour of a GPU costs in each pool, for the rules."""

from collections.abc import Mapping

from gpufleet.catalog import aws, azure
from gpufleet.fleet.node_facts import NodeFacts
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.usage.rows import prices


def pool_prices(pools: Mapping[str, PoolInfo], own: Mapping[str, float]) -> tuple[dict[str, float], list[str]]:
    """USD for an hour of a GPU by the label of a pool's nodes, and the names of pools without a price.

    own: prices that the catalog does not have, by label. Of Spot nodes the highest price that the catalog has, as in
    `gpufleet usage`; a pool of several types, or in zones that the catalog does not know, has no one price.
    """
    price = prices(own)
    found, unknown = dict[str, float](), list[str]()
    for name, pool in sorted(pools.items()):
        usd = price(_node(pool))
        if usd is None:
            unknown.append(name)
        else:
            found[pool.label] = usd
    return found, unknown


def _node(pool: PoolInfo) -> NodeFacts:
    """A node of the pool; without a type or a region where the pool has not one of each."""
    kind = pool.types[0] if len(pool.types) == 1 else ""
    found = {
        region
        for catalog in (aws(), azure())
        if kind in catalog.types
        for region, zones in catalog.regions.items()
        if {*zones} & {*pool.zones}
    }
    region = found.pop() if len(found) == 1 else ""
    return NodeFacts(pool.label, pool.place, kind, region, pool.capacity or "", pool.gpus)
