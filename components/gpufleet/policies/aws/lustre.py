"""File systems of FSx for Lustre of a plan: their sizes, links to buckets, and who reaches them."""

from collections.abc import Iterable, Iterator, Sequence

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.security_groups import SecurityGroups
from gpufleet.plan.aws.zones import SUBNET, ZoneNames, zone_of_subnet
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import items, number, value_of
from gpufleet.policies.aws.efa_security_groups import node_groups_of
from gpufleet.rules import coerce
from gpufleet.rules.aws import lustre as rules
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

FILE_SYSTEM = "aws:fsx/lustreFileSystem:LustreFileSystem"


def validate_lustre(
    plan: Plan, pools: Sequence[PlannedPool], zone_names: ZoneNames, groups: SecurityGroups
) -> list[ResourceFinding]:
    """Every finding on file systems of Lustre."""
    found: list[ResourceFinding] = []
    nodes = [pool for pool in pools if pool.cloud == "aws" and pool.gpu]
    for each in plan.of_type(FILE_SYSTEM):
        found += findings_on(each, [*_sizes(each), *_ports(plan, each, nodes, groups)])
        found += findings_on(each, _zone(plan, each, nodes, zone_names))
    return found


def _sizes(system: Resource) -> Iterator[Finding]:
    type_ = value_of(system, "deploymentType") or "SCRATCH_1"
    if not isinstance(type_, str) or value_of(system, "storageType") not in (None, "SSD"):
        return
    gib, throughput = number(value_of(system, "storageCapacity")), number(value_of(system, "perUnitStorageThroughput"))
    efa = value_of(system, "efaEnabled") is True
    if gib is not None and type_ != "SCRATCH_1":
        if efa and throughput is not None:
            yield rules.lustre_efa_size(argument="storage_capacity", gib=gib, throughput=throughput)
        else:
            yield rules.lustre_size(argument="storage_capacity", gib=gib)
    if throughput is not None and type_ == "PERSISTENT_2":
        yield rules.lustre_throughput(argument="per_unit_storage_throughput", throughput=throughput)
    if efa:
        metadata = value_of(system, "metadataConfiguration") is not None
        yield rules.lustre_efa_metadata(deployment_type=type_, metadata=metadata)
    for name, argument in (("importPath", "import_path"), ("exportPath", "export_path")):
        path = value_of(system, name)
        if isinstance(path, str):
            yield rules.lustre_bucket_path(argument=argument, path=path, deployment_type=type_)


def _ports(plan: Plan, system: Resource, nodes: Sequence[PlannedPool], groups: SecurityGroups) -> Iterator[Finding]:
    named = value_of(system, "securityGroupIds")
    listed = groups.of(system, "securityGroupIds")
    if named is None:
        # The network's default group, which is open to itself.
        return
    if named is UNKNOWN and not listed:
        yield rules.lustre_port(opened=None, clients=())
        return
    opened = groups.lustre_from(listed, listed)
    outside = len(listed) < len(items(named))
    yield rules.lustre_port(opened=None if opened is False and outside else opened, clients=())
    for pool in nodes:
        clients, others = node_groups_of(plan, pool.resource, groups)
        opened = groups.lustre_from(listed, clients)
        doubtful = opened is False and (others or outside or not clients)
        names = {urn.rsplit("::", 1)[-1] for urn in clients}
        if names:
            yield rules.lustre_port(opened=None if doubtful else opened, clients=names)


def _zone(plan: Plan, system: Resource, nodes: Sequence[PlannedPool], zone_names: ZoneNames) -> Iterable[Finding]:
    subnets = plan.behind(system, "subnetIds", SUBNET)
    zone = zone_of_subnet(subnets[0], zone_names) if len(subnets) == 1 else None
    node_zones = {each for pool in nodes for each in coerce.texts(pool.intent, "zones")}
    if zone is None or any(each[-1:].isalpha() != zone[-1:].isalpha() for each in node_zones):
        return []
    return [rules.lustre_zone(zone=zone, node_zones=sorted(node_zones))]
