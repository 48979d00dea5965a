"""A launch template of a plan, and what it says about the nodes that it launches."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.plan.aws.zones import region_of
from gpufleet.plan.pool_builder import PoolBuilder
from gpufleet.plan.property_values import as_bool, blocks, get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
GROUP = "aws:ec2/placementGroup:PlacementGroup"
_FABRIC = ("efa", "efa-only")


@dataclass(frozen=True)
class Template:
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


def template_of(plan: Plan, resource: Resource, name: str, *path: str) -> Template:
    """The template that the block at `path` in the property `name` refers to, by an output or by its name."""
    block = get_path(value_of(resource, name), *path)
    if block is None:
        return Template(None, used=False)
    behind = plan.behind(resource, name, TEMPLATE)
    if len(behind) == 1:
        return Template(behind[0], used=True)
    for key in ("name", "launchTemplateName"):
        if isinstance(called := get_path(block, key), str):
            for each in plan.of_type(TEMPLATE):
                if each.inputs.get("name") == called and region_of(each) == region_of(resource):
                    return Template(each, used=True)
    return Template(None, used=True)


def say_placement(words: PoolBuilder, plan: Plan, resource: Resource | None, name: str, *path: str) -> None:
    """Say whether nodes share a cluster placement group; the reference to it is at `path` in the property `name`.

    A group that the program does not make may be of any strategy, so that it stays unknown; its name is said.
    """
    if resource is None:
        words.say("placement", UNKNOWN)
        return
    reference = get_path(value_of(resource, name), *path)
    if reference is None:
        return
    groups = plan.behind(resource, name, GROUP)
    if not groups:
        groups = [each for each in plan.of_type(GROUP) if each.inputs.get("name") == reference]
    strategy = value_of(groups[0], "strategy") if len(groups) == 1 else UNKNOWN
    if strategy is UNKNOWN:
        words.say("placement", UNKNOWN)
        if not groups and isinstance(reference, str) and not (name, *path)[-1].endswith("Id"):
            words.say("placement_group", reference)
    elif strategy == "cluster":
        words.say("placement", "create")


def say_template_placement(words: PoolBuilder, plan: Plan, template: Template) -> None:
    """Say what the template's placement block says."""
    block = template.value_of("placement")
    if block is None:
        return
    key = "groupName" if get_path(block, "groupName") is not None else "groupId"
    say_placement(words, plan, template.resource, "placement", key)


def say_capacity(words: PoolBuilder, holder: Template, market: object = None) -> None:
    """Say how capacity is bought. `market`: what the pool itself says, SPOT, CAPACITY_BLOCK or another word."""
    target = get_path(holder.value_of("capacityReservationSpecification"), "capacityReservationTarget")
    options = get_path(holder.value_of("instanceMarketOptions"), "marketType")
    words_of_market = [str(each).lower().replace("_", "-") for each in (market, options)]
    if "capacity-block" in words_of_market:
        words.say("capacity", "capacity-block")
    elif "spot" in words_of_market:
        words.say("capacity", "spot")
        return
    elif UNKNOWN in (market, options, target):
        words.say("capacity", UNKNOWN)
        words.say("reservation_id", UNKNOWN)
        return
    elif target is not None:
        words.say("capacity", "reservation")
    if target is not None:
        reserved = get_path(target, "capacityReservationId")
        group = get_path(target, "capacityReservationResourceGroupArn")
        # A resource group names reservations too, only that which ones cannot be seen.
        words.say("reservation_id", UNKNOWN if group is not None else reserved)


def say_network(words: PoolBuilder, template: Template, from_subnets: object) -> int | None:
    """Say whether nodes have EFA and public addresses; the number of interfaces, None if it is not known.

    from_subnets: whether the subnets give public addresses, which holds where no interface says otherwise.
    """
    value = template.value_of("networkInterfaces")
    if value is UNKNOWN:
        words.say("network", UNKNOWN)
        words.say("public_addresses", UNKNOWN)
        return None
    interfaces = blocks(value)
    kinds = [get_path(each, "interfaceType") for each in interfaces]
    if any(kind in _FABRIC for kind in kinds):
        words.say("network", "efa")
    elif UNKNOWN in kinds or UNKNOWN in items(value):
        words.say("network", UNKNOWN)
    switches = [get_path(each, "associatePublicIpAddress") for each in interfaces]
    switch = next((each for each in switches if each is not None), None)
    words.say("public_addresses", from_subnets if switch is None else UNKNOWN if switch is UNKNOWN else as_bool(switch))
    return None if UNKNOWN in items(value) else max(1, len(interfaces))


def say_disk(words: PoolBuilder, template: Template) -> None:
    """Say how large the disk is; of several, the largest: Bottlerocket keeps a small one for its system."""
    value = template.value_of("blockDeviceMappings")
    if value is UNKNOWN:
        words.say("disk_gib", UNKNOWN)
        return
    sizes = [get_path(each, "ebs", "volumeSize") for each in blocks(value)]
    known = [size for size in map(number, sizes) if size is not None]
    words.say("disk_gib", UNKNOWN if UNKNOWN in sizes else max(known, default=None))


def one_type(template: Template) -> Sequence[object]:
    """The instance type that the template names, as a list; empty if it names none."""
    named = template.value_of("instanceType")
    return [] if named is None else [named]
