"""Subnets with nodes in a plan, judged by their way out."""

from collections.abc import Iterable

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws_batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.aws_node_group import NODE_GROUP
from gpufleet.plan.aws_routes import Routes
from gpufleet.plan.aws_zones import SUBNET
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.policies.on import on
from gpufleet.rules.judged import Judged
from gpufleet.rules.subnet_routes import subnet_way_out

_SUBNETS_AT = {NODE_GROUP: "subnetIds", COMPUTE_ENVIRONMENT: "computeResources"}
"""Pools whose nodes must reach a service of AWS to be of any use, and where they name their subnets."""


def judge_routes(plan: Plan, pools: Iterable[PlannedPool]) -> list[Judged]:
    """The findings on the subnets of node groups and compute environments."""
    routes = Routes(plan)
    judged: list[Judged] = []
    for pool in pools:
        name = _SUBNETS_AT.get(pool.resource.type)
        if name:
            public = None if "public_addresses" in pool.unknown else bool(pool.intent.get("public_addresses", False))
            for subnet in _subnets(plan, pool.resource, name):
                finding = subnet_way_out(subnet=subnet.name, way=routes.way_out(subnet), public_addresses=public)
                judged += on(pool.resource, [finding])
    return judged


def _subnets(plan: Plan, resource: Resource, name: str) -> list[Resource]:
    """Subnets of the plan, by name, since the engine gives them in any order."""
    return sorted(plan.behind(resource, name, SUBNET), key=lambda each: each.name)
