"""The GPU node groups of the simulated cloud: what EKS and AKS are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.paths import Json
from gpufleet_rehearsal.table.zone_names import zone_id

NODE_GROUP, SUBNET, TEMPLATE, SCALING_TAG = (
    "aws:eks/nodeGroup:NodeGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:autoscaling/tag:Tag",
)
AGENT_POOL, AKS = "azure-native:containerservice:AgentPool", "azure-native:containerservice:ManagedCluster"
_EFFECTS = {"NoSchedule": "NO_SCHEDULE", "NoExecute": "NO_EXECUTE", "PreferNoSchedule": "PREFER_NO_SCHEDULE"}
SPOT_TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NO_SCHEDULE"}
"""AKS puts it on Spot nodes by itself, and the label of the same words.

Source: https://learn.microsoft.com/azure/aks/spot-node-pool
"""


@dataclass(frozen=True)
class NodeGroup:
    """What one GPU node group asks for. zones: ids; taints: as EKS has them; network: plain or efa.

    min, max: between which an autoscaler may move the number. scales_itself: whether the cloud brings that along.
    tags, scaling_tags: those of the node group and of its Auto Scaling group, from which an autoscaler learns too.
    """

    pool: str
    desired: int
    min: int
    max: int
    type: str
    zones: tuple[str, ...]
    labels: Mapping[str, str]
    taints: tuple[Mapping[str, str], ...]
    network: str
    scales_itself: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    scaling_tags: Mapping[str, str] = field(default_factory=dict)


def groups(store: Store) -> list[NodeGroup]:
    """The GPU node groups of both clouds. Those whose type is not in gpufleet's catalog have no GPUs."""
    return [*_of_eks(store), *_of_aks(store)]


def _of_eks(store: Store) -> list[NodeGroup]:
    from gpufleet.catalog import aws

    subnets = {subnet.id: subnet for subnet in store.resources(SUBNET)}
    templates = {template.id: template for template in store.resources(TEMPLATE)}
    found = []
    for group in store.resources(NODE_GROUP):
        view = group.view
        template = templates.get(str(_mapping(view.get("launchTemplate")).get("id")))
        types = [*_list(view.get("instanceTypes")), template.view.get("instanceType") if template else None]
        type_ = next((str(given) for given in types if given), "")
        if type_ not in aws().types or group.status != "available":
            continue
        sizes = _mapping(view.get("scalingConfig"))
        zones = [_zone(subnets[str(id_)]) for id_ in _list(view.get("subnetIds")) if str(id_) in subnets]
        found.append(
            NodeGroup(
                pool=str(view["nodeGroupName"]),
                desired=int(cast("int", sizes.get("desiredSize") or 0)),
                min=int(cast("int", sizes.get("minSize") or 0)),
                max=int(cast("int", sizes.get("maxSize") or 0)),
                type=type_,
                zones=tuple(zones),
                labels={key: str(value) for key, value in _mapping(view.get("labels")).items()},
                taints=tuple(
                    {key: str(word) for key, word in _mapping(taint).items()} for taint in _list(view.get("taints"))
                ),
                network="efa" if template and _has_efa(template) else "plain",
                tags={key: str(value) for key, value in _mapping(view.get("tags")).items()},
                scaling_tags=_scaling_tags(store, view),
            )
        )
    return found


def _scaling_tags(store: Store, group: Mapping[str, Json]) -> Mapping[str, str]:
    """The tags that a program gives the Auto Scaling groups of a node group."""
    made = [
        _mapping(each)
        for part in _list(group.get("resources"))
        for each in _list(_mapping(part).get("autoscalingGroups"))
    ]
    names = {each.get("name") for each in made}
    tags = [
        _mapping(tag.view.get("tag"))
        for tag in store.resources(SCALING_TAG)
        if tag.view.get("autoscalingGroupName") in names
    ]
    return {str(tag["key"]): str(tag["value"]) for tag in tags}


def _of_aks(store: Store) -> list[NodeGroup]:
    from gpufleet.catalog import azure

    clusters = {str(cluster.view.get("name")): cluster for cluster in store.resources(AKS)}
    found = []
    for pool in store.resources(AGENT_POOL):
        view = pool.view
        cluster = clusters.get(str(view.get("resourceName")))
        if view.get("vmSize") not in azure().types or pool.status != "available" or cluster is None:
            continue
        region = str(cluster.view.get("location"))
        zones = [f"{region}-{zone}" for zone in _list(view.get("availabilityZones"))] or [f"{region}-0"]
        scaled = view.get("enableAutoScaling") is True
        count = int(cast("int", view.get("count") or 0))
        spot = view.get("scaleSetPriority") == "Spot"
        labels = {key: str(value) for key, value in _mapping(view.get("nodeLabels")).items()}
        taints = [_taint(str(taint)) for taint in _list(view.get("nodeTaints"))]
        if spot:
            labels |= {SPOT_TAINT["key"]: SPOT_TAINT["value"]}
            taints += [taint for taint in (SPOT_TAINT,) if taint not in taints]
        found.append(
            NodeGroup(
                pool=str(view["name"]),
                desired=count,
                min=int(cast("int", view.get("minCount") or 0)) if scaled else count,
                max=int(cast("int", view.get("maxCount") or 0)) if scaled else count,
                type=str(view["vmSize"]),
                zones=tuple(zones),
                labels=labels,
                taints=tuple(taints),
                network="plain",
                scales_itself=scaled,
            )
        )
    return found


def _taint(text: str) -> Mapping[str, str]:
    """AKS's key=value:NoSchedule in the words of node groups."""
    name, _, effect = text.rpartition(":")
    key, _, value = name.partition("=")
    return {"key": key, "value": value, "effect": _EFFECTS[effect]}


def _zone(subnet: SimulatedResource) -> str:
    return zone_id(str(subnet.view.get("availabilityZoneId") or subnet.view.get("availabilityZone")))


def _has_efa(template: SimulatedResource) -> bool:
    interfaces = [_mapping(entry) for entry in _list(template.view.get("networkInterfaces"))]
    return any(str(entry.get("interfaceType", "")).startswith("efa") for entry in interfaces)


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
