"""What is wrong with the Azure resources of a plan: where they lie, what they reach, what Azure rejects of them."""

import re
from collections.abc import Callable, Mapping

from gpufleet.plan import UNKNOWN, Plan
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.azure.pools import AzurePool, azure_pools_with_properties
from gpufleet.plan.property_values import get_path
from gpufleet.policies.azure.agent_pools import features, validate_agent_pool, validate_cluster
from gpufleet.policies.azure.batch_pools import validate_batch_account, validate_batch_pool
from gpufleet.policies.azure.lustre import validate_lustre_file_system
from gpufleet.policies.azure.mounts import validate_auto_storage
from gpufleet.policies.azure.pools import validate_pool_intent, zone_numbers
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.policies.azure.subnets import security_rules, validate_subnet_sizes
from gpufleet.rules.azure import budget as azure_budget
from gpufleet.rules.azure import capacity as azure_capacity
from gpufleet.rules.azure import names as azure_name
from gpufleet.rules.azure import nsg as azure_nsg
from gpufleet.rules.azure import placement as azure_placement
from gpufleet.rules.azure import private_endpoint as azure_endpoint
from gpufleet.rules.azure import registry as azure_registry
from gpufleet.rules.azure import role_assignment as azure_role
from gpufleet.rules.azure import storage as azure_storage
from gpufleet.rules.coerce import is_texts, is_whole
from gpufleet.rules.resource_finding import ResourceFinding

# The first A sizes, of which no capacity can be reserved.
_FIRST_A = re.compile(r"(standard|basic)_a\d+", re.I)


def validate_azure_feasibility(plan: Plan, config: Mapping[str, object]) -> list[ResourceFinding]:
    """Every finding on the Azure resources of a plan, passes included. Never raises, whatever their properties.

    config: `aks_infiniband` says whether the feature AKSInfinibandSupport is registered in the subscription.
    """
    graph = AzureGraph(plan)
    if not graph.types:
        return []
    registered = features(config)
    resource_findings: list[ResourceFinding] = []
    for reading in _pool_readings(graph, registered):
        resource_findings += reading.resource_findings()
    for resource in plan.resources:
        if check := _BY_KIND.get(graph.kind(resource)):
            reading = PropertyReader(graph, resource, graph.props(resource))
            check(reading)
            resource_findings += reading.resource_findings()
    return [*resource_findings, *validate_subnet_sizes(graph)]


def _pool_readings(graph: AzureGraph, registered: bool | None) -> list[PropertyReader]:
    """The findings on pools: one reader for each resource, and for each profile within a cluster."""
    together: dict[tuple[str, int], list[AzurePool]] = {}
    for number, pool in enumerate(azure_pools_with_properties(graph)):
        # Profiles of one cluster may have one name by mistake.
        key = (pool.planned.resource.urn, number if pool.profile else 0)
        together.setdefault(key, []).append(pool)
    readings: list[PropertyReader] = []
    for pools in together.values():
        first = pools[0]
        prefix = f"agent_pool_profiles.{first.profile}." if first.profile else ""
        reading = PropertyReader(graph, first.planned.resource, first.props, prefix)
        if first.planned.kind == "agent-pool":
            validate_agent_pool(reading, first, registered)
        elif first.planned.kind == "batch-pool":
            validate_batch_pool(reading, pools)
        else:
            validate_pool_intent(reading, first)
        readings.append(reading)
    return readings


def _batch_account(reading: PropertyReader) -> None:
    validate_batch_account(reading)
    validate_auto_storage(reading)


def _storage(reading: PropertyReader) -> None:
    if name := reading.text("accountName"):
        reading.add(azure_name.account_name(name=name, what="storage"))
    kind, sku = reading.text("kind"), reading.text("sku", "name")
    if kind and sku:
        reading.add(azure_storage.kind_and_sku(kind=kind, sku=sku))
    nfs = reading.flag("enableNfsV3")
    if nfs is None:
        return
    hierarchical = reading.flag("isHnsEnabled")
    # Azure allows every network where nobody says otherwise.
    action = reading.text("networkRuleSet", "defaultAction", default="Allow")
    if hierarchical is not None:
        reading.add(azure_storage.nfs_namespace(nfs=nfs, hierarchical=hierarchical))
    if kind is not None:
        reading.add(azure_storage.nfs_kind(nfs=nfs, kind=kind))
    if action is not None:
        reading.add(azure_storage.nfs_network(nfs=nfs, default_action=action))


def _file_share(reading: PropertyReader) -> None:
    protocol = reading.text("enabledProtocols", default="SMB")
    if protocol is None:
        return
    account = reading.graph.named(reading.resource, "accountName", "storage:StorageAccount", "accountName")
    kind = get_path(reading.graph.props(account), "kind") if account else None
    reading.add(azure_storage.files_nfs_kind(protocol=protocol, kind=kind if isinstance(kind, str) else None))


def _registry(reading: PropertyReader) -> None:
    if name := reading.text("registryName"):
        reading.add(azure_name.registry_name(name=name))
    sku, access = reading.text("sku", "name"), reading.text("publicNetworkAccess", default="Enabled")
    if sku and access is not None:
        reading.add(azure_registry.public_access(sku=sku, access=access))


def _cache_rule(reading: PropertyReader) -> None:
    if source := reading.text("sourceRepository"):
        reading.add(azure_registry.upstream(repository=source))
        given = bool(reading.has("credentialSetResourceId"))
        reading.add(azure_registry.login_given(prefix=None, host=source, given=given))


def _security_group(reading: PropertyReader) -> None:
    """Rules with one priority, those that are resources of their own included, as far as they are known."""
    same: dict[tuple[str, int], list[str]] = {}
    for entry in security_rules(reading.graph, reading.resource) or ():
        direction, priority = entry.get("direction"), entry.get("priority")
        name = entry.get("name") or entry.get("securityRuleName")
        if isinstance(direction, str) and is_whole(priority):
            same.setdefault((direction.capitalize(), int(priority)), []).append(str(name) if name else "(no name)")
    for (direction, priority), names in same.items():
        reading.add(azure_nsg.priority_once(direction=direction, priority=priority, names=names))


def _private_endpoint(reading: PropertyReader) -> None:
    connections = reading.blocks("privateLinkServiceConnections") or []
    name = "privateLinkServiceConnections"
    for kind in azure_endpoint.GROUPS:
        # Which connection leads where is not told by a plan: only with one of each is it sure.
        targets = reading.graph.behind(reading.resource, name, kind)
        if len(connections) != 1 or len(targets) != 1:
            continue
        groups = connections[0].get("groupIds")
        if is_texts(groups):
            reading.add(azure_endpoint.endpoint_group(kind=kind, groups=groups))
        sku = get_path(reading.graph.props(targets[0]), "sku", "name")
        if kind == "containerregistry:Registry" and isinstance(sku, str):
            reading.add(azure_endpoint.endpoint_of_premium(sku=sku))


def _role_assignment(reading: PropertyReader) -> None:
    made = reading.graph.behind(reading.resource, "principalId", "managedidentity:UserAssignedIdentity")
    given = bool(reading.has("principalType"))
    reading.add(azure_role.principal_type_given(given=given, new=bool(made)))


def _placement_group(reading: PropertyReader) -> None:
    zones = zone_numbers(reading.props)
    if zones is not None:
        reading.add(azure_placement.group_one_zone(zones=zones))


def _reservation(reading: PropertyReader) -> None:
    name = reading.text("sku", "name")
    if name:
        supported = False if _FIRST_A.fullmatch(name) else None
        reading.add(azure_capacity.reservation_size(type_name=name, supported=supported))
    kind = "compute:CapacityReservationGroup"
    groups = reading.graph.behind(reading.resource, "capacityReservationGroupName", kind)
    region = reading.graph.location(reading.resource)
    if len(groups) == 1 and region:
        other = reading.graph.location(groups[0])
        argument, what = "capacity_reservation_group_name", "capacity reservation group"
        reading.add(azure_placement.region_same(argument=argument, what=what, region=region, other=other))


def _budget(reading: PropertyReader) -> None:
    if day := reading.text("timePeriod", "startDate"):
        reading.add(azure_budget.start(day=day))
    notifications = get_path(reading.props, "notifications")
    if notifications is not UNKNOWN:
        count = len(notifications) if isinstance(notifications, Mapping) else 0
        reading.add(azure_budget.notifications(count=count))


_BY_KIND: Mapping[str, Callable[[PropertyReader], None]] = {
    "authorization:RoleAssignment": _role_assignment,
    "batch:BatchAccount": _batch_account,
    "compute:CapacityReservation": _reservation,
    "compute:ProximityPlacementGroup": _placement_group,
    "consumption:Budget": _budget,
    "containerregistry:CacheRule": _cache_rule,
    "containerregistry:Registry": _registry,
    "containerservice:ManagedCluster": validate_cluster,
    "network:NetworkSecurityGroup": _security_group,
    "network:PrivateEndpoint": _private_endpoint,
    "storage:FileShare": _file_share,
    "storage:StorageAccount": _storage,
    "storagecache:AmlFilesystem": validate_lustre_file_system,
}
