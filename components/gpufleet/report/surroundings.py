"""The networks and clusters that the pools of a stack lie in."""

from collections.abc import Sequence

from gpufleet.plan.property_values import get_path, items
from gpufleet.plan.resource import Plan, Resource
from gpufleet.report.model import ResourceChange, Surrounding

_KINDS = {
    "aws:ec2/vpc:Vpc": "network",
    "azure-native:network:VirtualNetwork": "network",
    "aws:eks/cluster:Cluster": "cluster",
    "azure-native:containerservice:ManagedCluster": "cluster",
}


def surroundings(before: Plan | None, after: Plan, changes: Sequence[ResourceChange]) -> list[Surrounding]:
    """Networks, then clusters, of both sides, by name."""
    operations = {change.urn: change.operation for change in changes}
    resources = {each.urn: each for plan in (before, after) if plan for each in plan.resources if each.type in _KINDS}
    listed = [
        Surrounding(each.name, _KINDS[each.type], _detail(each), operations.get(each.urn, "same"))
        for each in resources.values()
    ]
    return sorted(listed, key=lambda each: (each.kind != "network", each.name))


def _detail(resource: Resource) -> str:
    if _KINDS[resource.type] == "cluster":
        version = resource.inputs.get("version") or resource.inputs.get("kubernetesVersion")
        return f"Kubernetes {version}" if isinstance(version, str) else ""
    ranges = [resource.inputs.get("cidrBlock"), *items(get_path(resource.inputs, "addressSpace", "addressPrefixes"))]
    return ", ".join(each for each in ranges if isinstance(each, str))
