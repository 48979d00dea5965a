"""What an hour of a GPU costs in each pool, for the rules."""

from collections.abc import Mapping

from gpufleet.catalog import aws, azure
from gpufleet.cost.prices import node_price, spot_range
from gpufleet.jobs.pool_info import PoolInfo


def pool_prices(pools: Mapping[str, PoolInfo], own: Mapping[str, float]) -> tuple[dict[str, float], list[str]]:
    """USD for an hour of a GPU by the label of a pool's nodes, and the names of pools without a price.

    own: prices that the catalog does not have, by label. Of Spot nodes the highest price that the catalog has, as in
    `gpufleet usage`; a pool of several types, or in zones that the catalog does not know, has no one price.
    """
    found, unknown = dict[str, float](), list[str]()
    for name, pool in sorted(pools.items()):
        usd = own.get(pool.label, _price(pool))
        if usd is None:
            unknown.append(name)
        else:
            found[pool.label] = usd
    return found, unknown


def _price(pool: PoolInfo) -> float | None:
    if len(pool.types) != 1 or not pool.gpus:
        return None
    places = {
        (cloud, region)
        for cloud, types, regions in (("aws", aws().types, aws().regions), ("azure", azure().types, azure().regions))
        if pool.types[0] in types
        for region, zones in regions.items()
        if {*zones} & {*pool.zones}
    }
    if len(places) != 1:
        return None
    cloud, region = places.pop()
    if pool.capacity == "spot":
        spot = spot_range(cloud, [pool.types[0]], region)
        return None if spot is None else spot.high / pool.gpus
    if pool.capacity not in (None, "", "on-demand"):
        return None
    usd = node_price(cloud, pool.types[0], region).usd
    return None if usd is None else usd / pool.gpus
