"""Autoscaling groups and single instances of a plan as pools."""

import math
from collections.abc import Sequence

from gpufleet.plan.aws.build_pool import build_pool
from gpufleet.plan.aws.launch_template import (
    LaunchTemplate,
    one_type,
    set_capacity,
    set_disk,
    set_network,
    set_placement,
    set_template_placement,
    template_of,
)
from gpufleet.plan.aws.zones import (
    PoolZones,
    ZoneNames,
    distinct,
    is_zone_id,
    subnet_gives_addresses,
    zone_by_name,
    zones_of,
)
from gpufleet.plan.planned_pool import PlannedPool, PoolBuilder
from gpufleet.plan.property_values import as_bool, blocks, get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

AUTOSCALING_GROUP = "aws:autoscaling/group:Group"
INSTANCE = "aws:ec2/instance:Instance"
SPOT_REQUEST = "aws:ec2/spotInstanceRequest:SpotInstanceRequest"
_MIXED = "mixedInstancesPolicy"


def autoscaling_group(plan: Plan, resource: Resource, zone_names: ZoneNames) -> PlannedPool:
    """The pool that an autoscaling group is.

    With weights `max` counts units of capacity, so that nodes are counted by type (`most_by_type`).
    """
    pool = PoolBuilder()
    policy = value_of(resource, _MIXED)
    found = template_of(plan, resource, "launchTemplate")
    if policy is not None:
        found = template_of(plan, resource, _MIXED, "launchTemplate", "launchTemplateSpecification")
    template = LaunchTemplate(found.resource, found.used, over=resource)
    overrides = get_path(policy, "launchTemplate", "overrides")
    types = [UNKNOWN] if overrides is UNKNOWN else [get_path(each, "instanceType") for each in blocks(overrides)]
    # An override without a type chooses by attributes: which types that gives, AWS decides.
    named = [UNKNOWN if each is None else each for each in types] or one_type(template)
    if not named and template.value_of("instanceRequirements") is not None:
        named = [UNKNOWN]
    pool.set_list("types", named)
    zones = _zones_of_group(plan, resource, zone_names)
    pool.set("zones", UNKNOWN if zones.ids is None else list(zones.ids))
    most = _set_sizes(pool, resource, overrides)
    if value_of(resource, "placementGroup") is not None:
        set_placement(pool, plan, resource, "placementGroup")
    else:
        set_template_placement(pool, plan, template)
    set_capacity(pool, template, _market(policy))
    interfaces = set_network(pool, template, subnet_gives_addresses(zones))
    set_disk(pool, template)
    return build_pool(pool, resource, "autoscaling-group", zones, interfaces, most)


def machine(plan: Plan, resource: Resource, zone_names: ZoneNames) -> PlannedPool:
    """The pool of one node that an instance, or a request for a Spot instance, is."""
    pool = PoolBuilder()
    found = template_of(plan, resource, "launchTemplate")
    template = LaunchTemplate(found.resource, found.used, over=resource)
    pool.set_list("types", one_type(template))
    zones = _zone_of_machine(plan, resource, template, zone_names)
    pool.set("zones", UNKNOWN if zones.ids is None else list(zones.ids))
    for word in ("min", "desired", "max"):
        pool.set(word, 1)
    for name in ("placementGroup", "placementGroupId"):
        if value_of(resource, name) is not None:
            set_placement(pool, plan, resource, name)
            break
    else:
        set_template_placement(pool, plan, template)
    set_capacity(pool, template, "spot" if resource.type == SPOT_REQUEST else None)
    own = value_of(resource, "associatePublicIpAddress")
    addresses = subnet_gives_addresses(zones) if own is None else UNKNOWN if own is UNKNOWN else as_bool(own)
    # Interfaces of a machine are made elsewhere and only attached, so that their kind is not seen here.
    attached = value_of(resource, "networkInterfaces") or value_of(resource, "primaryNetworkInterface")
    inner = LaunchTemplate(None, used=True) if attached is not None else LaunchTemplate(found.resource, found.used)
    interfaces = set_network(pool, inner, addresses)
    size = get_path(value_of(resource, "rootBlockDevice"), "volumeSize")
    if size is None:
        set_disk(pool, LaunchTemplate(found.resource, found.used))
    else:
        pool.set("disk_gib", UNKNOWN if size is UNKNOWN else number(size))
    return build_pool(pool, resource, "machine", zones, interfaces)


def _zones_of_group(plan: Plan, resource: Resource, zone_names: ZoneNames) -> PoolZones:
    names = value_of(resource, "availabilityZones")
    if value_of(resource, "vpcZoneIdentifiers") is None and names is not None:
        return _named([UNKNOWN] if names is UNKNOWN else items(names), zone_names)
    return zones_of(plan, resource, "vpcZoneIdentifiers", (), zone_names)


def _zone_of_machine(plan: Plan, resource: Resource, template: LaunchTemplate, zone_names: ZoneNames) -> PoolZones:
    name = value_of(resource, "availabilityZone") or get_path(template.value_of("placement"), "availabilityZone")
    if value_of(resource, "subnetId") is None:
        return _named([UNKNOWN if name is None else name], zone_names)
    # One subnet, not a list of them.
    listed = {**resource.inputs, "subnetId": [resource.inputs.get("subnetId")]}
    single = Resource(resource.urn, resource.type, listed, resource.depends, "", resource.provider_region)
    return zones_of(plan, single, "subnetId", (), zone_names)


def _named(names: Sequence[object], zone_names: ZoneNames) -> PoolZones:
    """Zones that are given by name, without subnets."""
    found = [zone_by_name(name, zone_names) for name in names]
    known = distinct([zone for zone in found if zone])
    ids = [zone for zone in known if is_zone_id(zone)]
    whole = known and ids == known and None not in found
    return PoolZones(ids if whole else None, ids if len(ids) * 2 >= len(known) else known, (), all_here=False)


def _set_sizes(pool: PoolBuilder, resource: Resource, overrides: object) -> dict[str, int]:
    """Set how many nodes there are; return the most by type where overrides weigh them."""
    sizes = {word: value_of(resource, name) for word, name in (("min", "minSize"), ("max", "maxSize"))}
    desired = value_of(resource, "desiredCapacity")
    sizes["desired"] = sizes["min"] if desired is None else desired
    weights = [(get_path(each, "instanceType"), get_path(each, "weightedCapacity")) for each in blocks(overrides)]
    if all(weight is None for _, weight in weights):
        for word, size in sizes.items():
            pool.set(word, UNKNOWN if size is UNKNOWN else number(size))
        return {}
    heavy = [(name, _weight(weight)) for name, weight in weights]
    most = number(sizes["max"])
    known = [(name, weight) for name, weight in heavy if isinstance(name, str) and weight]
    if most is None or len(known) < len(heavy):
        for word in sizes:
            pool.set(word, UNKNOWN)
        return {}
    by_type = {name: math.ceil(most / weight) for name, weight in known}
    pool.set("max", max(by_type.values()))
    for word in ("min", "desired"):
        units = number(sizes[word])
        pool.set(word, UNKNOWN if units is None else math.ceil(units / max(weight for _, weight in known)))
    return by_type


def _weight(value: object) -> int | None:
    """A weight, which the provider spells as a text; None if it is not known."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and int(value) > 0 else None
    return 1 if value is None else number(value)


def _market(policy: object) -> object:
    """SPOT where a mixed group buys nothing on demand; a group that buys both counts as on demand, the dearer."""
    share = get_path(policy, "instancesDistribution", "onDemandPercentageAboveBaseCapacity")
    first = get_path(policy, "instancesDistribution", "onDemandBaseCapacity")
    if UNKNOWN in (share, first):
        return UNKNOWN
    return "spot" if number(share) == 0 and not number(first) else None
