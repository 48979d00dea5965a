"""Number of nodes of a pool at its stack's last update or refresh, by the resource's outputs."""

from collections.abc import Mapping

from gpufleet.cost.prices import catalog_of
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import get_path, number
from gpufleet.rules.coerce import texts

_AT: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "node-group": (("scalingConfig", "desiredSize"),),
    "autoscaling-group": (("desiredCapacity",),),
    "agent-pool": (("count",),),
    "scale-set": (("sku", "capacity"),),
    "batch-pool": (("currentDedicatedNodes",), ("currentLowPriorityNodes",)),
}
"""Where a kind of pool has its number of nodes, in the outputs of its resource; more than one are added up."""


def current_nodes(pool: PlannedPool, outputs: Mapping[str, object]) -> int | None:
    """Nodes by a resource's outputs; None if the provider does not report it."""
    if pool.kind == "machine":
        return 1
    if pool.kind == "batch":
        return _of_vcpus(pool, number(get_path(outputs, "computeResources", "desiredVcpus")))
    found = [number(get_path(outputs, *path)) for path in _AT.get(pool.kind, ())]
    known = [each for each in found if each is not None]
    return sum(known) if known and len(known) == len(found) else None


def _of_vcpus(pool: PlannedPool, vcpus: int | None) -> int | None:
    """Nodes in a number of vCPUs. With several types only 0 is known."""
    types = texts(pool.intent, "types")
    records = catalog_of(pool.cloud).types
    if not vcpus or len(types) != 1 or types[0] not in records:
        return vcpus if vcpus == 0 else None
    return vcpus // records[types[0]].vcpus
