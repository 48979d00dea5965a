"""An EKS node group of a plan as a pool."""

from gpufleet.plan.aws.build_pool import build_pool
from gpufleet.plan.aws.launch_template import (
    one_type,
    set_capacity,
    set_disk,
    set_network,
    set_template_placement,
    template_of,
)
from gpufleet.plan.aws.zones import ZoneNames, subnet_gives_addresses, zones_of
from gpufleet.plan.planned_pool import PlannedPool, PoolBuilder
from gpufleet.plan.property_values import blocks, get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
DEFAULT_TYPE = "t3.medium"
"""What EKS launches when neither the node group nor its template names a type (CreateNodegroup, instanceTypes)."""
DEFAULT_DISK_GIB = 20
"""Disk of a node without a launch template (CreateNodegroup, diskSize)."""


def node_group(plan: Plan, resource: Resource, zone_names: ZoneNames) -> PlannedPool:
    """The pool that a node group is."""
    pool = PoolBuilder()
    template = template_of(plan, resource, "launchTemplate")
    zones = zones_of(plan, resource, "subnetIds", (), zone_names)
    listed = value_of(resource, "instanceTypes")
    pool.set_list("types", [UNKNOWN] if listed is UNKNOWN else items(listed) or one_type(template) or [DEFAULT_TYPE])
    pool.set("zones", UNKNOWN if zones.ids is None else list(zones.ids))
    for word, name in (("min", "minSize"), ("desired", "desiredSize"), ("max", "maxSize")):
        size = get_path(value_of(resource, "scalingConfig"), name)
        pool.set(word, UNKNOWN if size is UNKNOWN else number(size))
    set_template_placement(pool, plan, template)
    set_capacity(pool, template, value_of(resource, "capacityType"))
    interfaces = set_network(pool, template, subnet_gives_addresses(zones))
    if template.used:
        set_disk(pool, template)
    else:
        size = value_of(resource, "diskSize")
        pool.set("disk_gib", UNKNOWN if size is UNKNOWN else number(size) or DEFAULT_DISK_GIB)
    _set_image(pool, value_of(resource, "amiType"), template.value_of("imageId"))
    pool.set("labels", value_of(resource, "labels"))
    pool.set("taints", _taints(value_of(resource, "taints")))
    return build_pool(pool, resource, "node-group", zones, interfaces)


def may_stand(resource: Resource) -> bool:
    """Whether a node group may stand already: some of its values are then the state's and not the program's.

    A policy pack does not know what is to happen to it, but whether the program ignores its number of nodes, as one
    does on account of an autoscaler.
    """
    return resource.operation == "update" or bool(resource.ignored & {"scalingConfig", "scalingConfig.desiredSize"})


def _taints(value: object) -> object:
    """Taints as the pool's word has them; `UNKNOWN` where a part of them is."""
    taints = blocks(value)
    parts = [part for taint in taints for part in taint.values()]
    return UNKNOWN if value is UNKNOWN or UNKNOWN in parts or UNKNOWN in items(value) else taints or None


def _set_image(pool: PoolBuilder, ami_type: object, image_id: object) -> None:
    """Set which image nodes start from, where it is a pool argument: other images have their own rule."""
    if isinstance(ami_type, str) and ami_type.startswith("AL2023"):
        pool.set("image", "al2023")
    elif isinstance(ami_type, str) and ami_type.startswith("BOTTLEROCKET"):
        pool.set("image", "bottlerocket")
    elif image_id is not None or ami_type is UNKNOWN:
        pool.set("image", image_id or UNKNOWN)
