"""Security groups of the EFA interfaces of a plan's pools, and who may mount its file systems through them."""

from collections.abc import Iterable

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.aws.launch_template import LaunchTemplate
from gpufleet.plan.aws.node_group import NODE_GROUP
from gpufleet.plan.aws.pools import template_of_pool
from gpufleet.plan.aws.security_groups import CLUSTER, EGRESS, INGRESS, SecurityGroups
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import blocks, get_path, items, value_of
from gpufleet.rules.aws.efa_security_groups import group_to_self
from gpufleet.rules.resource_finding import ResourceFinding, findings_on


def validate_efa_security_groups(
    plan: Plan, pools: Iterable[PlannedPool], groups: SecurityGroups
) -> list[ResourceFinding]:
    """The findings on security groups of the pools with EFA."""
    resource_findings: list[ResourceFinding] = []
    for pool in pools:
        if pool.cloud != "aws" or pool.intent.get("network") != "efa":
            continue
        known, outside = node_groups_of(plan, pool.resource, groups)
        answers = [(groups.to_self(urn, INGRESS), groups.to_self(urn, EGRESS)) for urn in sorted(known)]
        if outside or not answers:
            answers.append((None, None))
        # One group of the interfaces is enough. Of several, the one with the least missing is the one meant.
        ingress, egress = max(answers, key=lambda each: (each.count(True), each.count(None)))
        if (None, None) in answers and False in (ingress, egress):
            ingress, egress = None, None
        resource_findings += findings_on(pool.resource, [group_to_self(ingress=ingress, egress=egress)])
    return resource_findings


def node_groups_of(plan: Plan, resource: Resource, groups: SecurityGroups) -> tuple[set[str], bool]:
    """URNs of the security groups of a pool's nodes, and whether they are in others too.

    A managed node group whose template names none is in the cluster's group.
    """
    if resource.type == COMPUTE_ENVIRONMENT:
        # Those of the environment win over the template's.
        named = items(get_path(value_of(resource, "computeResources"), "securityGroupIds"))
        if named:
            found = groups.of(resource, "computeResources")
            return found, len(found) < len(named)
    template = template_of_pool(plan, resource)
    found, outside = _named_by(template, groups)
    if not found and not outside and resource.type == NODE_GROUP:
        clusters = plan.behind(resource, "clusterName", CLUSTER)
        return {each.urn for each in clusters}, not clusters
    return found, outside


def _named_by(template: LaunchTemplate, groups: SecurityGroups) -> tuple[set[str], bool]:
    if template.resource is None:
        return set(), template.used
    interfaces = blocks(value_of(template.resource, "networkInterfaces"))
    name = "networkInterfaces" if interfaces else "vpcSecurityGroupIds"
    value = get_path(interfaces[0], "securityGroups") if interfaces else value_of(template.resource, name)
    found = groups.of(template.resource, name)
    return found, value is not None and len(found) < max(1, len(items(value)))
