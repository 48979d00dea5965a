"""The pools of nodes in a plan that are on Azure, as arguments of `gpufleet.pools.eks_pool`."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from gpufleet.catalog import azure
from gpufleet.plan.azure.autoscale_formula import Bounds, formula_bounds
from gpufleet.plan.azure.graph import AzureGraph, region_of
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import blocks, get_path
from gpufleet.plan.resource import UNKNOWN, Plan, Resource, Unknown
from gpufleet.rules.coerce import is_texts, is_whole

# Azure's GPU families; N is for GPUs and, as NP, for FPGAs.
_GPU_NAME = re.compile(r"(standard_|basic_)?n[cdgv]\d.*", re.I)
_SPOT = ("Spot", "Low", "LowPriority")


@dataclass(frozen=True)
class AzurePool:
    """A planned pool with the properties that it was read from.

    props: inputs of the resource, or of the one profile within a cluster. profile: that profile's name, "" for none.
    """

    planned: PlannedPool
    props: Mapping[str, object]
    profile: str = ""


def azure_pools(plan: Plan) -> list[PlannedPool]:
    """Every pool of azure-native in a plan, whatever API version.

    A Batch pool with dedicated and Spot nodes is two, since they are paid and counted apart. A pool within a cluster's
    own inputs has the cluster as its resource. Zones are ids of the catalog, such as eastus-1: the subscription's own.
    """
    return [each.planned for each in azure_pools_with_properties(AzureGraph(plan))]


def azure_pools_with_properties(graph: AzureGraph) -> list[AzurePool]:
    """The same, together with what rules read besides the arguments of a pool."""
    return [pool for resource in graph.plan.resources if graph.kind(resource) for pool in _pools(graph, resource)]


def _pools(graph: AzureGraph, resource: Resource) -> Iterator[AzurePool]:
    props = graph.props(resource)
    match graph.kind(resource):
        case "containerservice:AgentPool":
            cluster = graph.named(resource, "resourceName", "containerservice:ManagedCluster", "resourceName")
            region = graph.location(cluster) if cluster else None
            yield _pool(resource, props, "agent-pool", region, _agent_pool_arguments(graph, resource, props))
        case "containerservice:ManagedCluster":
            for profile in blocks(props.get("agentPoolProfiles")):
                arguments = _agent_pool_arguments(graph, resource, profile)
                name = profile.get("name")
                pool = _pool(resource, profile, "agent-pool", graph.location(resource), arguments)
                yield AzurePool(pool.planned, profile, name if isinstance(name, str) else "?")
        case "batch:Pool":
            account = graph.named(resource, "accountName", "batch:BatchAccount", "accountName")
            region = graph.location(account) if account else None
            for arguments in _batch_arguments(props):
                yield _pool(resource, props, "batch-pool", region, arguments)
        case "compute:VirtualMachineScaleSet":
            yield _pool(resource, props, "scale-set", graph.location(resource), _scale_set_arguments(graph, resource))
        case "compute:VirtualMachine":
            yield _pool(resource, props, "machine", graph.location(resource), _machine_arguments(graph, resource))
        case "machinelearningservices:Compute":
            inner = props.get("properties")
            if isinstance(inner, Mapping) and inner.get("computeType") == "AmlCompute":
                region = region_of(inner.get("computeLocation")) or graph.location(resource)
                yield _pool(resource, inner, "ml-cluster", region, _ml_arguments(inner))


def _pool(
    resource: Resource, props: Mapping[str, object], kind: str, region: str | None, arguments: Mapping[str, object]
) -> AzurePool:
    """A pool from arguments of which some may be UNKNOWN; one that is None keeps its default."""
    intent = {name: value for name, value in arguments.items() if value is not None and value is not UNKNOWN}
    zones = intent.get("zones")
    if isinstance(zones, list) and region:
        # The catalog's ids; auto is AKS's word for whichever zones it likes.
        intent["zones"] = [zone if zone == "auto" else f"{region}-{zone}" for zone in zones]
    unknown = tuple(name for name, value in arguments.items() if value is UNKNOWN)
    return AzurePool(PlannedPool(resource, "azure", kind, region, intent, unknown, _gpu(intent.get("types"))), props)


def _gpu(types: object) -> bool | None:
    if not isinstance(types, list) or not types:
        return None
    return any(name in azure().types or bool(_GPU_NAME.fullmatch(name)) for name in types)


@cache
def _canonical() -> Mapping[str, str]:
    return {name.lower(): name for name in azure().types}


def _types(size: object) -> object:
    """A VM size as the catalog writes it: Azure does not look at upper and lower case in it."""
    if isinstance(size, str):
        return [_canonical().get(size.lower(), size)]
    return UNKNOWN if isinstance(size, Unknown) else None


def _agent_pool_arguments(graph: AzureGraph, resource: Resource, props: Mapping[str, object]) -> dict[str, object]:
    count = _whole(props.get("count"), 1)  # AKS makes one node when nobody says how many
    scaling = props.get("enableAutoScaling")
    least: object = UNKNOWN
    most: object = UNKNOWN
    if isinstance(scaling, Unknown):
        pass
    elif scaling is True:
        least, most = _whole(props.get("minCount"), None), _whole(props.get("maxCount"), None)
        count = _whole(props.get("count"), least)
    else:
        least = most = count
    reserved = props.get("capacityReservationGroupID")
    return {
        "types": _types(props.get("vmSize")),
        "min": least,
        "desired": count,
        "max": most,
        "zones": _texts(props.get("availabilityZones")),
        **_placement(graph, resource, "proximityPlacementGroupID", props.get("proximityPlacementGroupID")),
        "capacity": _capacity(props.get("scaleSetPriority"), reserved),
    }


def _scale_set_arguments(graph: AzureGraph, resource: Resource) -> dict[str, object]:
    props = graph.props(resource)
    count = _whole(get_path(props, "sku", "capacity"), None)
    profile = props.get("virtualMachineProfile")
    reserved = get_path(profile, "capacityReservation", "capacityReservationGroup", "id")
    return {
        "types": _types(get_path(props, "sku", "name")),
        "min": count,
        "desired": count,
        "max": count,
        "zones": _texts(props.get("zones")),
        **_placement(graph, resource, "proximityPlacementGroup", get_path(props, "proximityPlacementGroup", "id")),
        "capacity": _capacity(get_path(profile, "priority"), reserved),
    }


def _machine_arguments(graph: AzureGraph, resource: Resource) -> dict[str, object]:
    props = graph.props(resource)
    reserved = get_path(props, "capacityReservation", "capacityReservationGroup", "id")
    return {
        "types": _types(get_path(props, "hardwareProfile", "vmSize")),
        "min": 1,
        "desired": 1,
        "max": 1,
        "zones": _texts(props.get("zones")),
        **_placement(graph, resource, "proximityPlacementGroup", get_path(props, "proximityPlacementGroup", "id")),
        "capacity": _capacity(props.get("priority"), reserved),
    }


def _ml_arguments(inner: Mapping[str, object]) -> dict[str, object]:
    properties = inner.get("properties")
    least = _whole(get_path(properties, "scaleSettings", "minNodeCount"), 0)
    return {
        "types": _types(get_path(properties, "vmSize")),
        "min": least,
        "desired": least,
        "max": _whole(get_path(properties, "scaleSettings", "maxNodeCount"), None),
        "capacity": _capacity(get_path(properties, "vmPriority"), None),
    }


def _batch_arguments(props: Mapping[str, object]) -> list[dict[str, object]]:
    """The arguments of a Batch pool: once for its dedicated nodes, once for its Spot nodes."""
    size = _types(props.get("vmSize"))
    shared = {"types": size, "network": _batch_network(props.get("interNodeCommunication"), size)}
    counts = _batch_counts(props.get("scaleSettings"))
    return [{**shared, **arguments} for arguments in counts]


def _batch_counts(scale: object) -> list[dict[str, object]]:
    formula = get_path(scale, "autoScale", "formula")
    if isinstance(formula, str):
        found = formula_bounds(formula)
        markets = {market: found[word] for word, market in _MARKETS.items() if word in found}
        bounded = [_bounded(bounds, market) for market, bounds in markets.items()]
        # A formula may say of one kind of nodes that there are none.
        return [arguments for arguments in bounded if arguments["max"] != 0] or bounded[:1] or [_fixed(0, "on-demand")]
    if isinstance(formula, Unknown):
        return [{"min": UNKNOWN, "max": UNKNOWN, "capacity": UNKNOWN}]
    # Without scale settings a pool is made with no nodes.
    dedicated = _whole(get_path(scale, "fixedScale", "targetDedicatedNodes"), 0)
    spot = _whole(get_path(scale, "fixedScale", "targetLowPriorityNodes"), 0)
    both = [_fixed(count, market) for count, market in ((dedicated, "on-demand"), (spot, "spot")) if count != 0]
    return both or [_fixed(0, "on-demand")]


_MARKETS = {"dedicated": "on-demand", "spot": "spot"}


def _fixed(count: object, market: str) -> dict[str, object]:
    return {"min": count, "desired": count, "max": count, "capacity": market}


def _bounded(bounds: Bounds, market: str) -> dict[str, object]:
    """Batch takes a target below 0 for 0; it does not say how many nodes come first."""
    least = UNKNOWN if bounds.least is None else max(0, math.floor(bounds.least))
    most = UNKNOWN if bounds.most is None else max(0, math.ceil(bounds.most))
    return {"min": least, "max": most, "capacity": market}


def _batch_network(state: object, types: object) -> object:
    """infiniband where nodes may talk and their size has it: a Batch pool's nodes cannot talk by default."""
    if state != "Enabled":
        return UNKNOWN if isinstance(state, Unknown) else "plain"
    records = [azure().types.get(name) for name in types] if isinstance(types, list) else [None]
    if None in records:
        return UNKNOWN
    return "infiniband" if any(record and record.infiniband for record in records) else "plain"


def _placement(graph: AzureGraph, resource: Resource, name: str, value: object) -> dict[str, object]:
    if value is None:
        return {"placement": "none"}
    made = graph.behind(resource, name, "compute:ProximityPlacementGroup")
    if made:
        return {"placement": "create"}
    return {"placement": "existing", "placement_group": value if isinstance(value, str | Unknown) else None}


def _capacity(priority: object, reserved: object) -> object:
    if isinstance(priority, Unknown):
        return UNKNOWN
    if priority in _SPOT:
        return "spot"
    return "on-demand" if reserved is None else "reservation"


def _whole(value: object, default: object) -> object:
    """A whole number, UNKNOWN, or the default for what is neither."""
    if isinstance(value, Unknown):
        return UNKNOWN
    return int(value) if is_whole(value) else default


def _texts(value: object) -> object:
    if isinstance(value, Unknown) or (isinstance(value, Sequence) and any(isinstance(each, Unknown) for each in value)):
        return UNKNOWN
    return list(value) if is_texts(value) else None
