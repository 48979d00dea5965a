"""All pools of a plan on AWS."""

from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT, compute_environment
from gpufleet.plan.aws.instances import AUTOSCALING_GROUP, INSTANCE, SPOT_REQUEST, autoscaling_group, machine
from gpufleet.plan.aws.launch_template import LaunchTemplate, template_of
from gpufleet.plan.aws.node_group import NODE_GROUP, node_group
from gpufleet.plan.aws.zones import ZoneNames
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.resource import Plan, Resource

_READERS = {
    NODE_GROUP: node_group,
    COMPUTE_ENVIRONMENT: compute_environment,
    AUTOSCALING_GROUP: autoscaling_group,
    INSTANCE: machine,
    SPOT_REQUEST: machine,
}
_TEMPLATE_AT = {
    NODE_GROUP: ("launchTemplate",),
    COMPUTE_ENVIRONMENT: ("computeResources", "launchTemplate"),
    AUTOSCALING_GROUP: ("launchTemplate",),
}


def aws_pools(plan: Plan, zone_names: ZoneNames) -> list[PlannedPool]:
    """Every pool on AWS, type by type in the plan's order."""
    found = (read(plan, each, zone_names) for kind, read in _READERS.items() for each in plan.of_type(kind))
    return [pool for pool in found if pool is not None]


def template_of_pool(plan: Plan, resource: Resource) -> LaunchTemplate:
    """The launch template of a pool's resource; a machine is one itself."""
    path = _TEMPLATE_AT.get(resource.type)
    if path is None:
        return LaunchTemplate(resource, used=True)
    template = template_of(plan, resource, *path)
    if not template.used and resource.type == AUTOSCALING_GROUP:
        return template_of(plan, resource, "mixedInstancesPolicy", "launchTemplate", "launchTemplateSpecification")
    return template
