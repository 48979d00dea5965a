"""Pools of a plan on Azure, whatever service runs them: their intent, and what they are put into."""

from collections.abc import Mapping, Sequence

from gpufleet.catalog import AzureGpuSize, azure
from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.azure.pools import AzurePool
from gpufleet.plan.property_values import get_path
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.rules import coerce
from gpufleet.rules.azure import capacity as azure_capacity
from gpufleet.rules.azure import placement as azure_placement
from gpufleet.rules.azure.pool_arguments import validate_azure_pool_arguments
from gpufleet.rules.unknown_values import plan_known

# The property that points to a thing, by the kind of resource that the pool is.
_GROUP = {
    "containerservice:AgentPool": "proximityPlacementGroupID",
    "compute:VirtualMachineScaleSet": "proximityPlacementGroup",
    "compute:VirtualMachine": "proximityPlacementGroup",
}
_RESERVED = {
    "containerservice:AgentPool": "capacityReservationGroupID",
    "compute:VirtualMachineScaleSet": "virtualMachineProfile",
    "compute:VirtualMachine": "capacityReservation",
}
_SUBNET = {"containerservice:AgentPool": "vnetSubnetID", "batch:Pool": "networkConfiguration"}


def validate_pool_intent(reading: PropertyReader, pool: AzurePool) -> None:
    """The rules on a pool's intent, on the groups that it is put into, and on the region of its subnet."""
    planned = pool.planned
    unknown = set(planned.unknown)
    if planned.gpu is not False:
        unsaid = unknown if planned.region else unknown | {"region"}
        reading.add(plan_known(arguments=sorted(unsaid | reading.unknown)))
        reading.unknown.clear()
    reading.add(*validate_azure_pool_arguments(planned.intent, planned.region, unknown, planned.gpu))
    _placement_group(reading, pool)
    _reservation(reading, pool)
    _subnet(reading, pool)


def record_of(pool: AzurePool) -> AzureGpuSize | None:
    """What the catalog knows of a pool's size."""
    types = coerce.texts(pool.planned.intent, "types")
    return azure().types.get(types[0]) if types else None


def zone_numbers(props: Mapping[str, object], name: str = "zones") -> list[str] | None:
    """The zones that a resource names, None where they are not known."""
    value = get_path(props, name)
    if value is UNKNOWN or (isinstance(value, Sequence) and UNKNOWN in value):
        return None
    return list(value) if coerce.is_texts(value) else []


def _placement_group(reading: PropertyReader, pool: AzurePool) -> None:
    resource = reading.resource
    found = _one_behind(reading.graph, resource, _GROUP, "compute:ProximityPlacementGroup")
    if found is None or pool.profile or pool.planned.intent.get("placement") != "create":
        return
    group = reading.graph.props(found)
    named = zone_numbers(pool.props, "availabilityZones" if "availabilityZones" in pool.props else "zones")
    if named is not None:
        zones = [zone for zone in named if zone != "auto"]
        reading.add(azure_placement.group_zone(group_zones=zone_numbers(group), zones=zones))
    intended = get_path(group, "intent", "vmSizes")
    if coerce.is_texts(intended):
        for name in coerce.texts(pool.planned.intent, "types"):
            reading.add(azure_placement.group_sizes(type_name=name, intended=intended))
    _same_region(reading, pool, "proximity placement group", found)


def _reservation(reading: PropertyReader, pool: AzurePool) -> None:
    group = _one_behind(reading.graph, reading.resource, _RESERVED, "compute:CapacityReservationGroup")
    if group is None or pool.profile:
        return
    _same_region(reading, pool, "capacity reservation group", group)
    sizes = [
        size
        for each in reading.graph.of("compute:CapacityReservation")
        if group in reading.graph.behind(each, "capacityReservationGroupName", "compute:CapacityReservationGroup")
        and isinstance(size := get_path(reading.graph.props(each), "sku", "name"), str)
    ]
    for name in coerce.texts(pool.planned.intent, "types"):
        reading.add(azure_capacity.reservation_fits(type_name=name, reserved=sizes))


def _subnet(reading: PropertyReader, pool: AzurePool) -> None:
    """A subnet has no region: it lies where its network does."""
    subnet = _one_behind(reading.graph, reading.resource, _SUBNET, "network:Subnet")
    if subnet is None or pool.profile:
        return
    network = reading.graph.named(subnet, "virtualNetworkName", "network:VirtualNetwork", "virtualNetworkName")
    if network is not None:
        _same_region(reading, pool, "virtual network", network)


def _same_region(reading: PropertyReader, pool: AzurePool, what: str, found: Resource) -> None:
    region = pool.planned.region
    if region is None:
        return
    argument = {"virtual network": "subnet_id", "proximity placement group": "placement_group"}.get(what, "capacity")
    other = reading.graph.location(found)
    reading.add(azure_placement.region_same(argument=argument, what=what, region=region, other=other))


def _one_behind(graph: AzureGraph, resource: Resource, names: Mapping[str, str], kind: str) -> Resource | None:
    """The one resource of a kind that a pool points to, if the plan tells which."""
    name = names.get(graph.kind(resource))
    found = graph.behind(resource, name, kind) if name and graph.props(resource).get(name) is not None else []
    return found[0] if len(found) == 1 else None
