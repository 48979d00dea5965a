"""What is known of a node that is gone: what all nodes of its pool have."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from gpufleet.catalog import aws, azure
from gpufleet.jobs.pool_info import PoolInfo
from gpufleet.usage.allocation import GpuAllocation


def on_known_nodes(records: Iterable[GpuAllocation], pools: Mapping[str, PoolInfo]) -> Iterator[GpuAllocation]:
    """Records of nodes that are gone with the type, place and region of their pool: with these they have a price.

    Of a pool of several types or regions the price of a node that is gone stays unknown.
    """
    by_label = {pool.label: pool for pool in pools.values()}
    for each in records:
        pool = by_label.get(each.pool)
        if pool is None or each.type or len(pool.types) != 1:
            yield each
            continue
        region = each.region or _region(pool)
        capacity = each.capacity or pool.capacity or "on-demand"
        yield replace(each, type=pool.types[0], place=each.place or pool.place, region=region, capacity=capacity)


def _region(pool: PoolInfo) -> str:
    """The region of its zones; empty where they are of several, or the catalog does not know them."""
    found = {region for each in (aws(), azure()) for region, zones in each.regions.items() if {*zones} & {*pool.zones}}
    return found.pop() if len(found) == 1 else ""
