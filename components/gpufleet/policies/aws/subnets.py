"""Checks of the subnets of a plan's pools: their way out, and their addresses."""

from collections.abc import Iterable, Sequence

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.aws.instances import AUTOSCALING_GROUP
from gpufleet.plan.aws.node_group import NODE_GROUP
from gpufleet.plan.aws.route_tables import RouteTables
from gpufleet.plan.aws.zones import SUBNET
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import get_path, items, number, value_of
from gpufleet.rules.aws.subnet_routes import subnet_way_out
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding
from gpufleet.rules.subnet import nodes_fit

_SUBNETS_AT = {
    NODE_GROUP: ("subnetIds",),
    COMPUTE_ENVIRONMENT: ("computeResources", "subnets"),
    AUTOSCALING_GROUP: ("vpcZoneIdentifiers",),
}
_OUTWARD = (NODE_GROUP, COMPUTE_ENVIRONMENT)
"""Pools whose nodes must reach a service of AWS to be of any use."""


def validate_subnets(plan: Plan, pools: Iterable[PlannedPool]) -> list[ResourceFinding]:
    """The findings on the subnets of pools with several nodes."""
    routes = RouteTables(plan)
    resource_findings: list[ResourceFinding] = []
    for pool in pools:
        path = _SUBNETS_AT.get(pool.resource.type)
        if path is None:
            continue
        # By name, since the engine gives them in any order.
        subnets = sorted(plan.behind(pool.resource, path[0], SUBNET), key=lambda each: each.name)
        if pool.resource.type in _OUTWARD:
            public = None if "public_addresses" in pool.unknown else bool(pool.intent.get("public_addresses", False))
            for subnet in subnets:
                way = routes.way_out(subnet)
                finding = subnet_way_out(subnet=subnet.name, way=way, public_addresses=public)
                resource_findings += findings_on(pool.resource, [finding])
        listed = items(get_path(value_of(pool.resource, path[0]), *path[1:]))
        if len(subnets) == len(listed):
            resource_findings += findings_on(pool.resource, _addresses(pool, subnets))
    return resource_findings


def _addresses(pool: PlannedPool, subnets: Sequence[Resource]) -> Iterable[Finding]:
    """Whether the nodes have an address each; what their pods need besides is not seen from here."""
    ranges = [value_of(each, "cidrBlock") for each in subnets]
    cidrs = [each for each in ranges if isinstance(each, str)]
    # Of the largest type there are fewest.
    most = min(pool.most_by_type.values()) if pool.most_by_type else number(pool.intent.get("max"))
    if most is not None and cidrs and len(cidrs) == len(ranges):
        yield nodes_fit(cidrs=cidrs, nodes=most, interfaces=1)
