"""A launch template of a plan, and what it says about the nodes that it launches."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.plan.aws.zones import region_of
from gpufleet.plan.planned_pool import PoolBuilder
from gpufleet.plan.property_values import as_bool, blocks, get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource
from gpufleet.rules.aws.disk import DEFAULT_TYPE, DISK_TYPES

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/placementGroup:PlacementGroup"
_FABRIC = ("efa", "efa-only")


@dataclass(frozen=True)
class LaunchTemplate:
    """The launch template that something uses. resource: None if the program does not make it.

    used: whether there is one at all. over: the machine or group whose own properties, of the same names as the
    template's, go before the template's.
    """

    resource: Resource | None
    used: bool
    over: Resource | None = None

    def value_of(self, name: str) -> object:
        """What the user of the template, or the template, says; `UNKNOWN` if it is somebody else's template."""
        own = value_of(self.over, name) if self.over else None
        if own is not None:
            return own
        if self.resource is None:
            return UNKNOWN if self.used else None
        return value_of(self.resource, name)


def template_of(plan: Plan, resource: Resource, name: str, *path: str) -> LaunchTemplate:
    """The template that the block at `path` in the property `name` refers to, by an output or by its name."""
    block = get_path(value_of(resource, name), *path)
    if block is None:
        return LaunchTemplate(None, used=False)
    behind = plan.behind(resource, name, TEMPLATE)
    if len(behind) == 1:
        return LaunchTemplate(behind[0], used=True)
    for key in ("name", "launchTemplateName"):
        if isinstance(called := get_path(block, key), str):
            for each in plan.of_type(TEMPLATE):
                if each.inputs.get("name") == called and region_of(each) == region_of(resource):
                    return LaunchTemplate(each, used=True)
    return LaunchTemplate(None, used=True)


def set_placement(pool: PoolBuilder, plan: Plan, resource: Resource | None, name: str, *path: str) -> None:
    """Set whether nodes share a cluster placement group; the reference to it is at `path` in the property `name`.

    A group that the program does not make may be of any strategy, so it stays unknown; its name is known.
    """
    if resource is None:
        pool.set("placement", UNKNOWN)
        return
    reference = get_path(value_of(resource, name), *path)
    if reference is None:
        return
    groups = plan.behind(resource, name, GROUP)
    if not groups:
        groups = [each for each in plan.of_type(GROUP) if each.inputs.get("name") == reference]
    strategy = value_of(groups[0], "strategy") if len(groups) == 1 else UNKNOWN
    if strategy is UNKNOWN:
        pool.set("placement", UNKNOWN)
        if not groups and isinstance(reference, str) and not (name, *path)[-1].endswith("Id"):
            pool.set("placement_group", reference)
    elif strategy == "cluster":
        pool.set("placement", "create")


def set_template_placement(pool: PoolBuilder, plan: Plan, template: LaunchTemplate) -> None:
    """Set what the template's placement block says."""
    block = template.value_of("placement")
    if block is None:
        return
    key = "groupName" if get_path(block, "groupName") is not None else "groupId"
    set_placement(pool, plan, template.resource, "placement", key)


def set_capacity(pool: PoolBuilder, holder: LaunchTemplate, market: object = None) -> None:
    """Set how capacity is bought. `market`: what the pool itself says, SPOT, CAPACITY_BLOCK or another word."""
    target = get_path(holder.value_of("capacityReservationSpecification"), "capacityReservationTarget")
    options = get_path(holder.value_of("instanceMarketOptions"), "marketType")
    market_names = [str(each).lower().replace("_", "-") for each in (market, options)]
    if "capacity-block" in market_names:
        pool.set("capacity", "capacity-block")
    elif "spot" in market_names:
        pool.set("capacity", "spot")
        return
    elif UNKNOWN in (market, options, target):
        pool.set("capacity", UNKNOWN)
        pool.set("reservation_id", UNKNOWN)
        return
    elif target is not None:
        pool.set("capacity", "reservation")
    if target is not None:
        reserved = get_path(target, "capacityReservationId")
        group = get_path(target, "capacityReservationResourceGroupArn")
        # A resource group names reservations too, only that which ones cannot be seen.
        pool.set("reservation_id", UNKNOWN if group is not None else reserved)


def set_network(pool: PoolBuilder, template: LaunchTemplate, from_subnets: object) -> int | None:
    """Set whether nodes have EFA and public addresses; the number of interfaces, None if it is not known.

    from_subnets: whether the subnets give public addresses, which holds where no interface says otherwise.
    """
    value = template.value_of("networkInterfaces")
    if value is UNKNOWN:
        pool.set("network", UNKNOWN)
        pool.set("public_addresses", UNKNOWN)
        return None
    interfaces = blocks(value)
    kinds = [get_path(each, "interfaceType") for each in interfaces]
    if any(kind in _FABRIC for kind in kinds):
        pool.set("network", "efa")
    elif UNKNOWN in kinds or UNKNOWN in items(value):
        pool.set("network", UNKNOWN)
    if len(interfaces) > 1 and from_subnets is True:
        # EC2 gives none to an instance with several interfaces (EC2 user guide, instance addressing).
        from_subnets = False
    switches = [get_path(each, "associatePublicIpAddress") for each in interfaces]
    switch = next((each for each in switches if each is not None), None)
    pool.set("public_addresses", from_subnets if switch is None else UNKNOWN if switch is UNKNOWN else as_bool(switch))
    return None if UNKNOWN in items(value) else max(1, len(interfaces))


def set_disk(pool: PoolBuilder, template: LaunchTemplate) -> None:
    """Set how large the disk is; of several, the largest: Bottlerocket keeps a small one for its system."""
    value = template.value_of("blockDeviceMappings")
    if value is UNKNOWN:
        pool.set("disk_gib", UNKNOWN)
        return
    sizes = [get_path(each, "ebs", "volumeSize") for each in blocks(value)]
    known = sorted((size for size in map(number, sizes) if size is not None), reverse=True)
    pool.set("disk_gib", UNKNOWN if UNKNOWN in sizes else max(known, default=None))
    # Its kind and speed are those of the disk with that size.
    _set_speed(pool, [each for each in blocks(value) if number(get_path(each, "ebs", "volumeSize")) in known[:1]])


def _set_speed(pool: PoolBuilder, disks: Sequence[object]) -> None:
    """Set kind, IOPS and throughput of a disk. The older kinds that pools here never have keep their own rules."""
    for disk in disks[:1]:
        kind = get_path(disk, "ebs", "volumeType")
        if kind is not UNKNOWN and kind not in (None, *DISK_TYPES):
            return
        pool.set("disk_type", None if kind == DEFAULT_TYPE else kind)
        for word, name in (("disk_iops", "iops"), ("disk_throughput", "throughput")):
            found = get_path(disk, "ebs", name)
            pool.set(word, UNKNOWN if found is UNKNOWN else number(found))


def one_type(template: LaunchTemplate) -> Sequence[object]:
    """The instance type that the template names, as a list; empty if it names none."""
    named = template.value_of("instanceType")
    return [] if named is None else [named]
