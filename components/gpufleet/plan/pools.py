"""The pools of nodes in a plan, as arguments of `gpufleet.pools.eks_pool`, from any program."""

from collections.abc import Mapping
from typing import cast

from gpufleet.plan.aws.pools import aws_pools
from gpufleet.plan.azure.pools import azure_pools
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.resource import Plan

__all__ = ["PlannedPool", "planned_pools"]


def planned_pools(plan: Plan, zone_names: Mapping[str, str] | None = None) -> list[PlannedPool]:
    """Every pool of a plan, those without GPUs too.

    zone_names: zone id -> this account's or subscription's name for it, for programs that give names.
    """
    key = (planned_pools, tuple(sorted((zone_names or {}).items())))
    found = plan.derived.get(key)
    if found is None:
        # Prices, zones and tags are all checked for them.
        found = plan.derived[key] = [*aws_pools(plan, zone_names or {}), *azure_pools(plan)]
    return list(cast("list[PlannedPool]", found))
