"""What is wrong with the Azure resources of a plan: where they lie, what they reach, what Azure refuses of them."""

import re
from collections.abc import Callable, Mapping

from gpufleet.plan import UNKNOWN, Plan
from gpufleet.plan.azure.pools import AzurePool, azure_pools_with_properties
from gpufleet.plan.azure.type import AzureGraph
from gpufleet.plan.values import at
from gpufleet.policies.azure.agent_pools import features, judge_agent_pool, judge_cluster
from gpufleet.policies.azure.batch_pools import judge_batch_account, judge_batch_pool
from gpufleet.policies.azure.mounts import judge_auto_storage
from gpufleet.policies.azure.pools import judge_pool_intent, zone_numbers
from gpufleet.policies.azure.reading import Reading
from gpufleet.rules.azure import budget as azure_budget
from gpufleet.rules.azure import capacity as azure_capacity
from gpufleet.rules.azure import name as azure_name
from gpufleet.rules.azure import placement as azure_placement
from gpufleet.rules.azure import registry as azure_registry
from gpufleet.rules.azure import storage as azure_storage
from gpufleet.rules.judged import Judged

# The first A sizes, of which no capacity can be reserved.
_FIRST_A = re.compile(r"(standard|basic)_a\d+", re.I)


def azure_findings(plan: Plan, config: Mapping[str, object]) -> list[Judged]:
    """Every finding on the Azure resources of a plan, passes included. Never raises, whatever their properties.

    config: `aks_infiniband` says whether the feature AKSInfinibandSupport is registered in the subscription.
    """
    graph = AzureGraph(plan)
    if not graph.types:
        return []
    registered = features(config)
    judged: list[Judged] = []
    for reading in _pool_readings(graph, registered):
        judged += reading.judged()
    for resource in plan.resources:
        if judge := _BY_KIND.get(graph.kind(resource)):
            reading = Reading(graph, resource, graph.props(resource))
            judge(reading)
            judged += reading.judged()
    return judged


def _pool_readings(graph: AzureGraph, registered: bool | None) -> list[Reading]:
    """The pools, judged: one reading for each resource, and for each profile within a cluster."""
    together: dict[tuple[str, int], list[AzurePool]] = {}
    for number, pool in enumerate(azure_pools_with_properties(graph)):
        # Profiles of one cluster may have one name by mistake.
        key = (pool.planned.resource.urn, number if pool.profile else 0)
        together.setdefault(key, []).append(pool)
    readings: list[Reading] = []
    for pools in together.values():
        first = pools[0]
        prefix = f"agent_pool_profiles.{first.profile}." if first.profile else ""
        reading = Reading(graph, first.planned.resource, first.props, prefix)
        if first.planned.kind == "agent-pool":
            judge_agent_pool(reading, first, registered)
        elif first.planned.kind == "batch-pool":
            judge_batch_pool(reading, pools)
        else:
            judge_pool_intent(reading, first)
        readings.append(reading)
    return readings


def _batch_account(reading: Reading) -> None:
    judge_batch_account(reading)
    judge_auto_storage(reading)


def _storage(reading: Reading) -> None:
    if name := reading.text("accountName"):
        reading.add(azure_name.account_name(name=name, what="storage"))
    nfs = reading.flag("enableNfsV3")
    if nfs is None:
        return
    hierarchical, kind = reading.flag("isHnsEnabled"), reading.text("kind")
    # Azure allows every network where nobody says otherwise.
    action = reading.text("networkRuleSet", "defaultAction", default="Allow")
    if hierarchical is not None:
        reading.add(azure_storage.nfs_namespace(nfs=nfs, hierarchical=hierarchical))
    if kind is not None:
        reading.add(azure_storage.nfs_kind(nfs=nfs, kind=kind))
    if action is not None:
        reading.add(azure_storage.nfs_network(nfs=nfs, default_action=action))


def _file_share(reading: Reading) -> None:
    protocol = reading.text("enabledProtocols", default="SMB")
    if protocol is None:
        return
    account = reading.graph.named(reading.resource, "accountName", "storage:StorageAccount", "accountName")
    kind = at(reading.graph.props(account), "kind") if account else None
    reading.add(azure_storage.files_nfs_kind(protocol=protocol, kind=kind if isinstance(kind, str) else None))


def _registry(reading: Reading) -> None:
    if name := reading.text("registryName"):
        reading.add(azure_name.registry_name(name=name))
    sku, access = reading.text("sku", "name"), reading.text("publicNetworkAccess", default="Enabled")
    if sku and access is not None:
        reading.add(azure_registry.public_access(sku=sku, access=access))


def _cache_rule(reading: Reading) -> None:
    if source := reading.text("sourceRepository"):
        reading.add(azure_registry.upstream(repository=source))


def _placement_group(reading: Reading) -> None:
    zones = zone_numbers(reading.props)
    if zones is not None:
        reading.add(azure_placement.group_one_zone(zones=zones))


def _reservation(reading: Reading) -> None:
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


def _budget(reading: Reading) -> None:
    if day := reading.text("timePeriod", "startDate"):
        reading.add(azure_budget.start(day=day))
    notifications = at(reading.props, "notifications")
    if notifications is not UNKNOWN:
        count = len(notifications) if isinstance(notifications, Mapping) else 0
        reading.add(azure_budget.notifications(count=count))


_BY_KIND: Mapping[str, Callable[[Reading], None]] = {
    "batch:BatchAccount": _batch_account,
    "compute:CapacityReservation": _reservation,
    "compute:ProximityPlacementGroup": _placement_group,
    "consumption:Budget": _budget,
    "containerregistry:CacheRule": _cache_rule,
    "containerregistry:Registry": _registry,
    "containerservice:ManagedCluster": judge_cluster,
    "storage:FileShare": _file_share,
    "storage:StorageAccount": _storage,
}
