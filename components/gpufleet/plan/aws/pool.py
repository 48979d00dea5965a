"""From the words of a resource of AWS to its pool."""

from collections.abc import Mapping

from gpufleet.plan.aws.instance_types import has_gpus
from gpufleet.plan.aws.zones import Zones, region_of
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.pool_builder import PoolBuilder
from gpufleet.plan.resource import Resource


def pool_of(
    resource: Resource,
    kind: str,
    words: PoolBuilder,
    zones: Zones,
    interfaces: int | None,
    most_by_type: Mapping[str, int] | None = None,
) -> PlannedPool:
    """The pool that a resource is, of which `words` says what is known. The others: see `PlannedPool`."""
    types = words.known.get("types")
    return PlannedPool(
        resource=resource,
        cloud="aws",
        kind=kind,
        region=region_of(resource, zones.places),
        intent=words.known,
        unknown=tuple(dict.fromkeys(words.unknown)),
        gpu=has_gpus(types) if isinstance(types, list) else None,
        places=zones.places,
        most_by_type=most_by_type or {},
        interfaces=interfaces,
    )
