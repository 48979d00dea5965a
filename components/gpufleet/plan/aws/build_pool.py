"""The pool of a resource of AWS, from the arguments that are known of it."""

from collections.abc import Mapping

from gpufleet.plan.aws.instance_types import has_gpus
from gpufleet.plan.aws.zones import PoolZones, region_of
from gpufleet.plan.planned_pool import PlannedPool, PoolBuilder
from gpufleet.plan.resource import Resource


def build_pool(
    pool: PoolBuilder,
    resource: Resource,
    kind: str,
    zones: PoolZones,
    interfaces: int | None,
    most_by_type: Mapping[str, int] | None = None,
) -> PlannedPool:
    """The pool with the arguments of `pool`. The others: see `PlannedPool`."""
    return pool.build(
        resource,
        "aws",
        kind,
        region_of(resource, zones.places),
        has_gpus(pool.known.get("types")),
        places=zones.places,
        most_by_type=most_by_type,
        interfaces=interfaces,
    )
