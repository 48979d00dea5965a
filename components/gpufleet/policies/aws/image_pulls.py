"""What nodes and jobs of a plan pull: through the caches of the registry, and without a way to the internet."""

from collections.abc import Iterable

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws.node_group import NODE_GROUP
from gpufleet.plan.aws.role_rights import ROLE, allows
from gpufleet.plan.aws.route_tables import RouteTables
from gpufleet.plan.aws.zones import SUBNET
from gpufleet.plan.property_values import blocks, get_path, value_of
from gpufleet.rules.aws.image_pull import image_reached
from gpufleet.rules.aws.registry import cache_filled
from gpufleet.rules.aws.subnet_routes import ENDPOINTS
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

CACHE = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
REGISTRY_POLICY = "aws:ecr/registryPolicy:RegistryPolicy"
WORKLOADS = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")


def validate_image_pulls(plan: Plan) -> list[ResourceFinding]:
    """Every finding on roles that pull through caches, and on images that nodes do not reach."""
    found = [finding for group in plan.of_type(NODE_GROUP) for finding in findings_on(group, _caches(plan, group))]
    if region := _closed_region(plan):
        caches = [each for rule in plan.of_type(CACHE) if isinstance(each := _prefix(rule), str)]
        for kind in WORKLOADS:
            for workload in plan.of_type(f"kubernetes:apps/v1:{kind}"):
                findings = [
                    image_reached(argument="image", image=image, region=region, caches=caches)
                    for image in _images(workload)
                ]
                found += findings_on(workload, findings)
    return found


def _caches(plan: Plan, group: Resource) -> Iterable[Finding]:
    """Whether the nodes' role may fill the plan's caches. A policy of the registry may let it, too."""
    if plan.of_type(REGISTRY_POLICY):
        return
    for role in plan.behind(group, "nodeRoleArn", ROLE):
        for rule in plan.of_type(CACHE):
            prefix = _prefix(rule)
            if isinstance(prefix, str):
                creates = allows(plan, role, "ecr:CreateRepository", f"repository/{prefix}/image")
                if creates is not None:
                    yield cache_filled(role=role.name, prefix=prefix, creates=creates)


def _prefix(rule: Resource) -> object:
    return value_of(rule, "ecrRepositoryPrefix")


def _closed_region(plan: Plan) -> str | None:
    """The region of the nodes, if all node groups of the plan lie where only endpoints lead out."""
    routes, groups = RouteTables(plan), plan.of_type(NODE_GROUP)
    subnets = [plan.behind(group, "subnetIds", SUBNET) for group in groups]
    closed = all(found and all(routes.way_out(each) == ENDPOINTS for each in found) for found in subnets)
    return groups[0].provider_region if groups and closed else None


def _images(workload: Resource) -> list[str]:
    pod = get_path(value_of(workload, "spec"), "template", "spec")
    containers = [each for key in ("initContainers", "containers") for each in blocks(get_path(pod, key))]
    return [image for each in containers if isinstance(image := each.get("image"), str)]
