"""EFS file systems of a plan, their mount targets and access points."""

from collections.abc import Iterable, Sequence

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.security_groups import SecurityGroups
from gpufleet.plan.aws.zones import SUBNET, ZoneNames, region_of, zone_by_name, zone_of_subnet
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import get_path, value_of
from gpufleet.policies.aws.efa_security_groups import node_groups_of
from gpufleet.rules import coerce
from gpufleet.rules.aws import mount_target as rules
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

FILE_SYSTEM = "aws:efs/fileSystem:FileSystem"
TARGET = "aws:efs/mountTarget:MountTarget"
ACCESS_POINT = "aws:efs/accessPoint:AccessPoint"


class FileSystems:
    """The file systems of a plan with their mount targets."""

    def __init__(self, plan: Plan, zone_names: ZoneNames, groups: SecurityGroups) -> None:
        self.plan = plan
        self.groups = groups
        self.targets = plan.of_type(TARGET)
        self.zones = {each.urn: self._zone(each, zone_names) for each in self.targets}
        self.systems = {each.urn: self._system(each) for each in self.targets}
        self.zone_names = zone_names
        self.together: dict[tuple[str, str], list[str]] = {}
        for each in self.targets:
            zone, system = self.zones[each.urn], self.systems[each.urn]
            if zone and system:
                self.together.setdefault((zone, system), []).append(each.name)

    def _zone(self, target: Resource, zone_names: ZoneNames) -> str | None:
        subnets = self.plan.behind(target, "subnetId", SUBNET)
        return zone_of_subnet(subnets[0], zone_names) if len(subnets) == 1 else None

    def _system(self, target: Resource) -> str | None:
        """What tells its file system from others: the resource, or the id of one that the program does not make."""
        systems = self.plan.behind(target, "fileSystemId", FILE_SYSTEM)
        if len(systems) == 1:
            return systems[0].urn
        named = value_of(target, "fileSystemId")
        return named if isinstance(named, str) else None


def validate_files(
    plan: Plan, pools: Sequence[PlannedPool], zone_names: ZoneNames, groups: SecurityGroups
) -> list[ResourceFinding]:
    """Every finding on file systems, and on GPU pools that would not find one in their zone."""
    files = FileSystems(plan, zone_names, groups)
    nodes = [pool for pool in pools if pool.cloud == "aws" and pool.gpu]
    return [
        *_systems(files, nodes),
        *_targets(files, nodes),
        *_access_points(plan),
        *_pools(files, nodes),
    ]


def _systems(files: FileSystems, nodes: Sequence[PlannedPool]) -> Iterable[ResourceFinding]:
    regions = sorted({pool.region for pool in nodes if pool.region})
    for each in files.plan.of_type(FILE_SYSTEM):
        if region := region_of(each):
            yield from findings_on(each, [rules.region_of_nodes(region=region, node_regions=regions)])


def _targets(files: FileSystems, nodes: Sequence[PlannedPool]) -> Iterable[ResourceFinding]:
    clients: set[str] = set()
    outside = False
    for pool in nodes:
        found, others = node_groups_of(files.plan, pool.resource, files.groups)
        clients |= found
        outside = outside or others
    names = sorted(urn.rsplit("::", 1)[-1] for urn in clients)
    for target in files.targets:
        zone, system = files.zones[target.urn], files.systems[target.urn]
        if zone and system:
            twins = sorted(name for name in files.together[zone, system] if name != target.name)
            yield from findings_on(target, [rules.target_once(zone=zone, others=twins)])
        yield from findings_on(target, _of_one_zone(files, target, zone))
        listed = files.groups.of(target, "securityGroups")
        opened = files.groups.nfs_from(listed, clients)
        # Nodes in groups that the program does not make may be let in by rules that it does not make.
        opened = None if opened is False and outside and clients else opened
        yield from findings_on(target, [rules.nfs_open(opened=opened, clients=names)])


def _of_one_zone(files: FileSystems, target: Resource, zone: str | None) -> Iterable[Finding]:
    for system in files.plan.behind(target, "fileSystemId", FILE_SYSTEM):
        name = value_of(system, "availabilityZoneName")
        if isinstance(name, str):
            file_zone = zone_by_name(name, files.zone_names) or name
            # An id and a name cannot be compared without the account's map.
            comparable = zone is not None and zone[-1:].isalpha() == file_zone[-1:].isalpha()
            yield rules.target_in_zone(file_zone=file_zone, zone=zone if comparable else None)


def _access_points(plan: Plan) -> Iterable[ResourceFinding]:
    for point in plan.of_type(ACCESS_POINT):
        root = value_of(point, "rootDirectory")
        path = get_path(root, "path")
        if root is UNKNOWN or path is UNKNOWN:
            continue
        made = get_path(root, "creationInfo") is not None
        new = bool(plan.behind(point, "fileSystemId", FILE_SYSTEM))
        finding = rules.directory_made(directory=path if isinstance(path, str) else "", creation_info=made, new=new)
        yield from findings_on(point, [finding])


def _pools(files: FileSystems, nodes: Sequence[PlannedPool]) -> Iterable[ResourceFinding]:
    if not files.targets:
        return
    known = sorted({zone for zone in files.zones.values() if zone})
    complete = None not in files.zones.values()
    for pool in nodes:
        zones = coerce.texts(pool.intent, "zones")
        # In another region the file system is the fault, which has its own rule.
        if pool.region in {region_of(each) for each in files.targets}:
            findings = [rules.target_for_nodes(zone=zone, targets=known, complete=complete) for zone in zones]
            yield from findings_on(pool.resource, findings)
