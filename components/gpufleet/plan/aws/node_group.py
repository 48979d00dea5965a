"""An EKS node group of a plan as a pool."""

from gpufleet.plan.aws.launch_template import (
    one_type,
    say_capacity,
    say_disk,
    say_network,
    say_template_placement,
    template_of,
)
from gpufleet.plan.aws.pool import pool_of
from gpufleet.plan.aws.zones import ZoneNames, subnet_gives_addresses, zones_of
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.pool_builder import PoolBuilder
from gpufleet.plan.property_values import blocks, get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
DEFAULT_TYPE = "t3.medium"
"""What EKS launches when neither the node group nor its template names a type (CreateNodegroup, instanceTypes)."""
DEFAULT_DISK_GIB = 20
"""Disk of a node without a launch template (CreateNodegroup, diskSize)."""


def node_group(plan: Plan, resource: Resource, zone_names: ZoneNames) -> PlannedPool:
    """The pool that a node group is."""
    words = PoolBuilder()
    template = template_of(plan, resource, "launchTemplate")
    zones = zones_of(plan, resource, "subnetIds", (), zone_names)
    listed = value_of(resource, "instanceTypes")
    words.say_texts("types", [UNKNOWN] if listed is UNKNOWN else items(listed) or one_type(template) or [DEFAULT_TYPE])
    words.say("zones", UNKNOWN if zones.ids is None else list(zones.ids))
    for word, name in (("min", "minSize"), ("desired", "desiredSize"), ("max", "maxSize")):
        size = get_path(value_of(resource, "scalingConfig"), name)
        words.say(word, UNKNOWN if size is UNKNOWN else number(size))
    say_template_placement(words, plan, template)
    say_capacity(words, template, value_of(resource, "capacityType"))
    interfaces = say_network(words, template, subnet_gives_addresses(zones))
    if template.used:
        say_disk(words, template)
    else:
        size = value_of(resource, "diskSize")
        words.say("disk_gib", UNKNOWN if size is UNKNOWN else number(size) or DEFAULT_DISK_GIB)
    _say_image(words, value_of(resource, "amiType"), template.value_of("imageId"))
    words.say("labels", value_of(resource, "labels"))
    words.say("taints", _taints(value_of(resource, "taints")))
    return pool_of(resource, "node-group", words, zones, interfaces)


def _taints(value: object) -> object:
    """Taints as the pool's word has them; `UNKNOWN` where a part of them is."""
    taints = blocks(value)
    parts = [part for taint in taints for part in taint.values()]
    return UNKNOWN if value is UNKNOWN or UNKNOWN in parts or UNKNOWN in items(value) else taints or None


def _say_image(words: PoolBuilder, ami_type: object, image_id: object) -> None:
    """Say which image nodes start from, where it is one of the pool's words: a rule of its own judges others."""
    if isinstance(ami_type, str) and ami_type.startswith("AL2023"):
        words.say("image", "al2023")
    elif isinstance(ami_type, str) and ami_type.startswith("BOTTLEROCKET"):
        words.say("image", "bottlerocket")
    elif image_id is not None or ami_type is UNKNOWN:
        words.say("image", image_id or UNKNOWN)
