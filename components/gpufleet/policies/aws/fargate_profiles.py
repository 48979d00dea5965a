"""The Fargate profiles of a plan."""

from gpufleet.plan import Plan
from gpufleet.plan.aws.route_tables import RouteTables
from gpufleet.plan.aws.zones import SUBNET
from gpufleet.rules.aws.fargate_profile import subnet_private
from gpufleet.rules.resource_finding import ResourceFinding, findings_on

PROFILE = "aws:eks/fargateProfile:FargateProfile"


def validate_fargate_profiles(plan: Plan) -> list[ResourceFinding]:
    """Every finding on the subnets of Fargate profiles, for those that the program makes."""
    routes = RouteTables(plan)
    return [
        finding
        for profile in plan.of_type(PROFILE)
        for subnet in sorted(plan.behind(profile, "subnetIds", SUBNET), key=lambda each: each.name)
        for finding in findings_on(profile, [subnet_private(subnet=subnet.name, way=routes.way_out(subnet))])
    ]
