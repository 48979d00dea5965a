"""Checks of the AKS clusters and agent pools in a plan."""

from collections.abc import Mapping

from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.azure.pools import AzurePool
from gpufleet.plan.property_values import get_path, items
from gpufleet.policies.azure.pools import record_of, validate_pool_intent
from gpufleet.policies.azure.property_reader import PropertyReader
from gpufleet.rules import coerce, efa
from gpufleet.rules.azure import aks_agent_pool as azure_agent_pool
from gpufleet.rules.azure import capacity as azure_capacity
from gpufleet.rules.azure import cluster as azure_cluster
from gpufleet.rules.azure import names as azure_name

OPERATOR = "f1a07417-d97a-45cb-824c-7a7467783830"
"""Role definition Managed Identity Operator, the same in every tenant."""


def validate_agent_pool(reading: PropertyReader, pool: AzurePool, registered: bool | None) -> None:
    """Every rule on an agent pool. registered: AKSInfinibandSupport in the subscription, None where not known."""
    words = pool.planned.intent
    system = reading.text("osType", default="Linux")
    _name(reading, pool, system)
    _scaling(reading)
    capacity = None if "capacity" in pool.planned.unknown else coerce.text(words, "capacity", "on-demand")
    mode = reading.text("mode", default="System" if pool.profile else "User")
    if "max" not in pool.planned.unknown and "max" in words:
        reading.add(azure_agent_pool.most_nodes(most=coerce.whole(words, "max", 0)))
    if mode is not None and "min" not in pool.planned.unknown and "min" in words:
        reading.add(azure_agent_pool.system_least(mode=mode, least=coerce.whole(words, "min", 0)))
    if capacity is not None:
        _capacity(reading, pool, mode, capacity)
    kind = reading.text("type", default="VirtualMachineScaleSets")
    if kind is not None and "placement" not in pool.planned.unknown:
        placement = coerce.text(words, "placement", "none")
        zones = bool(reading.has("availabilityZones"))
        reading.add(azure_agent_pool.scale_set(kind=kind, zones=zones, placement=placement))
    if reading.has("enableNodePublicIP"):
        public = reading.flag("enableNodePublicIP")
        if public is not None:
            reading.add(efa.pool_private(public_addresses=public))
    _version(reading, pool)
    _disk(reading, pool)
    if pool.planned.gpu:
        _gpus(reading, pool, mode, capacity, registered)
    validate_pool_intent(reading, pool)


def _name(reading: PropertyReader, pool: AzurePool, system: str | None) -> None:
    path = "name" if pool.profile else "agentPoolName"
    name = reading.text(path) if reading.has(path) else None
    if name and system is not None:
        reading.add(azure_name.agent_pool_name(name=name, system=system))


def _version(reading: PropertyReader, pool: AzurePool) -> None:
    version = reading.text("orchestratorVersion") if reading.has("orchestratorVersion") else None
    cluster = _cluster_of(reading, pool)
    if not version or cluster is None:
        return
    said = get_path(reading.graph.props(cluster), "kubernetesVersion")
    # Without a version of its own a cluster gets AKS's default, which is not known here.
    reading.add(azure_agent_pool.version_fits(version=version, cluster=said if isinstance(said, str) else None))


def _disk(reading: PropertyReader, pool: AzurePool) -> None:
    kind = reading.text("osDiskType", default="Managed")
    size = reading.whole("osDiskSizeGB") if reading.has("osDiskSizeGB") else azure_agent_pool.USUAL_DISK_GIB
    for name in coerce.texts(pool.planned.intent, "types") if kind and size is not None else ():
        reading.add(azure_agent_pool.disk_in_cache(type_name=name, disk_type=kind or "", disk_gib=size or None))


def _scaling(reading: PropertyReader) -> None:
    enabled = reading.flag("enableAutoScaling")
    bounds = [get_path(reading.props, name) for name in ("minCount", "maxCount")]
    if enabled is None:
        return
    # A bound that is not known yet is given nevertheless.
    least, most = (0 if value is UNKNOWN else int(value) if coerce.is_whole(value) else None for value in bounds)
    reading.add(azure_agent_pool.autoscaling(enabled=enabled, least=least, most=most))


def _capacity(reading: PropertyReader, pool: AzurePool, mode: str | None, capacity: str) -> None:
    if mode is not None:
        reading.add(azure_agent_pool.system_spot(mode=mode, capacity=capacity))
    for name, argument in (("scaleSetEvictionPolicy", "scale_set_eviction_policy"), ("spotMaxPrice", "spot_max_price")):
        if reading.has(name):
            value = get_path(reading.props, name)
            shown = value if isinstance(value, str | int | float) else "(not known)"
            reading.add(azure_agent_pool.spot_options(argument=argument, value=shown, capacity=capacity))
    for name, argument in (("maxSurge", "max_surge"), ("maxUnavailable", "max_unavailable")):
        if reading.has("upgradeSettings", name):
            value = get_path(reading.props, "upgradeSettings", name)
            shown = value if isinstance(value, str) else "(not known)"
            reading.add(azure_agent_pool.spot_upgrade(argument=argument, value=shown, capacity=capacity))
    if capacity == "reservation":
        cluster = _cluster_of(reading, pool)
        identity = get_path(reading.graph.props(cluster), "identity", "type") if cluster else UNKNOWN
        kind = "none" if identity is None else identity if isinstance(identity, str) else None
        reading.add(azure_agent_pool.reservation_identity(capacity=capacity, identity=kind))


def _gpus(
    reading: PropertyReader, pool: AzurePool, mode: str | None, capacity: str | None, registered: bool | None
) -> None:
    record = record_of(pool)
    names = coerce.texts(pool.planned.intent, "types")
    if mode is not None and names:
        reading.add(azure_agent_pool.system_gpu(mode=mode, type_name=names[0]))
    taints = get_path(reading.props, "nodeTaints")
    if taints is not UNKNOWN:
        # Spot pools get a taint from AKS.
        count = len(items(taints)) + (capacity == "spot")
        reading.add(azure_agent_pool.taint(taints=count))
    driver = reading.text("gpuProfile", "driver", default="Install")
    if driver is not None:
        reading.add(azure_agent_pool.driver(choice=driver))
    if record is None:
        return
    feature = azure_agent_pool.infiniband_feature(
        type_name=record.type, infiniband=record.infiniband, registered=registered
    )
    reading.add(feature)
    if capacity is not None and "max" in pool.planned.intent:
        together = bool(record.infiniband) and coerce.whole(pool.planned.intent, "max", 0) > 1
        reading.add(azure_capacity.spot_mpi(capacity=capacity, together=together))


def _cluster_of(reading: PropertyReader, pool: AzurePool) -> Resource | None:
    if pool.profile:
        return reading.resource
    return reading.graph.named(reading.resource, "resourceName", "containerservice:ManagedCluster", "resourceName")


def validate_cluster(reading: PropertyReader) -> None:
    """Every rule on a cluster beside those on its pools."""
    graph, cluster = reading.graph, reading.resource
    version, plan = reading.text("kubernetesVersion"), reading.text("supportPlan")
    # One that is there keeps its version; with long-term support new ones may have older versions, too.
    if version and plan in ("", "KubernetesOfficial") and cluster.operation in ("create", "replace"):
        for finding in azure_cluster.validate_version(version):
            reading.add(finding)
    dns, services = reading.text("networkProfile", "dnsServiceIP"), reading.text("networkProfile", "serviceCidr")
    if dns and services is not None:
        reading.add(azure_cluster.dns_inside(dns=dns, services=services or "10.0.0.0/16"))
    workloads = reading.flag("securityProfile", "workloadIdentity", "enabled")
    issuer = reading.flag("oidcIssuerProfile", "enabled")
    if workloads is not None and issuer is not None:
        reading.add(azure_cluster.workload_identity_issued(enabled=workloads, issuer=issuer))
    kubelet = get_path(reading.props, "identityProfile", "kubeletidentity")
    reading.add(
        azure_agent_pool.kubelet_role(
            own_kubelet=_own_kubelet(cluster, kubelet), assigned=_operator_assigned(graph, cluster) if kubelet else None
        )
    )
    outbound = reading.text("networkProfile", "outboundType")
    ranges = items(get_path(reading.props, "apiServerAccessProfile", "authorizedIPRanges"))
    if outbound is not None:
        reading.add(
            azure_cluster.nodes_reach_api(
                ranges=[each if isinstance(each, str) else "(not known)" for each in ranges],
                outbound=_OUTBOUND.get(outbound, outbound),
                included=_nodes_included(reading, ranges),
            )
        )


_OUTBOUND = {"userAssignedNATGateway": "nat-gateway", "userDefinedRouting": "routes"}


def _nodes_included(reading: PropertyReader, ranges: list[object]) -> bool | None:
    """Whether a cluster's authorized ranges include the address of the NAT gateway of its nodes."""
    graph, kind = reading.graph, "network:PublicIPAddress"
    if graph.behind(reading.resource, "apiServerAccessProfile", kind):
        return True
    subnets = graph.behind(reading.resource, "agentPoolProfiles", "network:Subnet")
    gateways = [each for subnet in subnets for each in graph.behind(subnet, "natGateway", "network:NatGateway")]
    addresses = [each for gateway in gateways for each in graph.behind(gateway, "publicIpAddresses", kind)]
    if not addresses or UNKNOWN in ranges:
        return None
    # An address that is still to be made is in no list of plain text.
    made = [each.inputs.get("ipAddress") for each in addresses]
    return all(isinstance(ip, str) and f"{ip}/32" in ranges for ip in made)


def _own_kubelet(cluster: Resource, kubelet: object) -> bool:
    """Whether the program gives the nodes an identity. One that AKS makes, the provider may show, too."""
    said = get_path(kubelet, "resourceId")
    if isinstance(said, str):
        return not said.endswith("-agentpool")
    return said is UNKNOWN and bool(cluster.depends.get("identityProfile"))


def _operator_assigned(graph: AzureGraph, cluster: Resource) -> bool | None:
    """Whether the plan makes somebody Managed Identity Operator on the kubelet's identity, and before the cluster."""
    kind = "managedidentity:UserAssignedIdentity"
    identities = graph.behind(cluster, "identityProfile", kind)
    if not identities:
        return None
    doubt = False
    for each in graph.of("authorization:RoleAssignment"):
        scopes = graph.behind(each, "scope", kind)
        wide = graph.props(each).get("scope")
        concerned = any(identity in scopes for identity in identities)
        # A role on a resource group or a subscription holds for the identities in it, too.
        around = not scopes and wide is not None
        role = graph.props(each).get("roleDefinitionId")
        if not isinstance(role, str):
            doubt = doubt or ((concerned or around) and role is UNKNOWN)
        elif OPERATOR in role.lower():
            if concerned and each.urn in cluster.waits_for:
                return True
            doubt = doubt or around
    return None if doubt else False


def features(config: Mapping[str, object]) -> bool | None:
    """Whether the pack's configuration says that AKSInfinibandSupport is registered."""
    said = config.get("aks_infiniband")
    return said if isinstance(said, bool) else None
