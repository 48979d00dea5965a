"""All pools of a plan on AWS."""

from gpufleet.plan.aws_batch import COMPUTE_ENVIRONMENT, compute_environment
from gpufleet.plan.aws_machines import AUTOSCALING_GROUP, INSTANCE, SPOT_REQUEST, autoscaling_group, machine
from gpufleet.plan.aws_node_group import NODE_GROUP, node_group
from gpufleet.plan.aws_zones import ZoneNames
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.resource import Plan

_READERS = {
    NODE_GROUP: node_group,
    COMPUTE_ENVIRONMENT: compute_environment,
    AUTOSCALING_GROUP: autoscaling_group,
    INSTANCE: machine,
    SPOT_REQUEST: machine,
}


def aws_pools(plan: Plan, zone_names: ZoneNames) -> list[PlannedPool]:
    """Every pool on AWS, type by type in the plan's order."""
    found = (read(plan, each, zone_names) for kind, read in _READERS.items() for each in plan.of_type(kind))
    return [pool for pool in found if pool is not None]
