"""The data stores of a stack, and the zones in which they can be reached."""

from collections.abc import Sequence

from gpufleet.plan.aws.zones import SUBNET, zone_of_subnet
from gpufleet.plan.resource import Plan, Resource
from gpufleet.report.changes import stores_data
from gpufleet.report.model import DataStore, ResourceChange

_MOUNT, _FILES = "aws:efs/mountTarget:MountTarget", "aws:efs/fileSystem:FileSystem"
_LEFT_OUT = ("kubernetes:", "aws:eks/cluster:", "aws:ec2/instance:")
"""Types that the diagram shows elsewhere, or that are too many."""


def data_stores(before: Plan | None, after: Plan, changes: Sequence[ResourceChange]) -> list[DataStore]:
    """File systems, buckets, registries, queues ... of both sides, by name."""
    operations = {change.urn: change.operation for change in changes}
    found: dict[str, DataStore] = {}
    for plan in (before, after):
        for resource in plan.resources if plan else ():
            if stores_data(resource.type) and not resource.type.startswith(_LEFT_OUT):
                assert plan is not None
                kind = resource.type.rsplit(":", 1)[-1]
                operation = operations.get(resource.urn, "same")
                found[resource.urn] = DataStore(resource.name, kind, operation, _zones(plan, resource))
    return sorted(found.values(), key=lambda each: (each.kind, each.name))


def _zones(plan: Plan, resource: Resource) -> list[str]:
    """Zones that an EFS file system has a mount target in; everything else is reached from the whole region."""
    if resource.type != _FILES:
        return []
    found: set[str] = set()
    for target in plan.of_type(_MOUNT):
        if resource.urn in target.depends.get("fileSystemId", ()):
            for subnet in plan.behind(target, "subnetId", SUBNET):
                found |= {zone} if (zone := zone_of_subnet(subnet, {})) else set()
    return sorted(found)
