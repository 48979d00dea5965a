"""The node groups of the simulated cloud: what EKS and AKS are asked for.

Those without GPUs are where operators and launchers run. There is no other node for them, as on a real cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.machine import Machine, eks_machine, own_kubelet, taint_of
from gpufleet_rehearsal.table.paths import Json, json_items
from gpufleet_rehearsal.table.zone_names import zone_id

NODE_GROUP, SUBNET, TEMPLATE, SCALING_TAG = (
    "aws:eks/nodeGroup:NodeGroup",
    "aws:ec2/subnet:Subnet",
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:autoscaling/tag:Tag",
)
AGENT_POOL, AKS = "azure-native:containerservice:AgentPool", "azure-native:containerservice:ManagedCluster"
SPOT_TAINT = {"key": "kubernetes.azure.com/scalesetpriority", "value": "spot", "effect": "NO_SCHEDULE"}
"""AKS puts it on Spot nodes by itself, and the label of the same words.

Source: https://learn.microsoft.com/azure/aks/spot-node-pool
"""


@dataclass(frozen=True)
class NodeGroup:
    """What one node group asks for. zones: ids; taints: as EKS has them; machine: None where it has no GPUs.

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
    machine: Machine | None
    scales_itself: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    scaling_tags: Mapping[str, str] = field(default_factory=dict)


def groups(store: Store) -> list[NodeGroup]:
    """The node groups of both clouds. Those whose type is not in gpufleet's catalog have no GPUs."""
    return [*_of_eks(store), *_of_aks(store)]


def _of_eks(store: Store) -> list[NodeGroup]:
    from gpufleet.catalog import aws

    subnets = {subnet.id: subnet for subnet in store.resources(SUBNET)}
    templates = {template.id: template for template in store.resources(TEMPLATE)}
    found = []
    for group in store.resources(NODE_GROUP):
        view = group.view
        template = templates.get(str(_mapping(view.get("launchTemplate")).get("id")))
        types = [*json_items(view.get("instanceTypes")), template.view.get("instanceType") if template else None]
        type_ = next((str(given) for given in types if given), "")
        if group.status != "available":
            continue
        data = template.view if template else {}
        image = str(view.get("amiType") or "")
        kubelet = own_kubelet(data) if image == "CUSTOM" else None
        sizes = _mapping(view.get("scalingConfig"))
        zones = [_zone(subnets[str(id_)]) for id_ in json_items(view.get("subnetIds")) if str(id_) in subnets]
        found.append(
            NodeGroup(
                pool=str(view["nodeGroupName"]),
                desired=int(cast("int", sizes.get("desiredSize") or 0)),
                min=int(cast("int", sizes.get("minSize") or 0)),
                max=int(cast("int", sizes.get("maxSize") or 0)),
                type=type_,
                zones=tuple(zones),
                labels=kubelet.labels if kubelet else _words(view.get("labels")),
                taints=kubelet.taints if kubelet else tuple(_words(taint) for taint in json_items(view.get("taints"))),
                machine=eks_machine(image, data) if type_ in aws().types else None,
                tags=_words(view.get("tags")),
                scaling_tags=_scaling_tags(store, view),
            )
        )
    return found


def _scaling_tags(store: Store, group: Mapping[str, Json]) -> Mapping[str, str]:
    """The tags that a program gives the Auto Scaling groups of a node group."""
    made = [
        _mapping(each)
        for part in json_items(group.get("resources"))
        for each in json_items(_mapping(part).get("autoscalingGroups"))
    ]
    names = {each.get("name") for each in made}
    tags = [
        _mapping(tag.view.get("tag"))
        for tag in store.resources(SCALING_TAG)
        if tag.view.get("autoscalingGroupName") in names
    ]
    return {str(tag["key"]): str(tag["value"]) for tag in tags}


def _of_aks(store: Store) -> list[NodeGroup]:
    """Separate agent pools, and those that clusters are made with."""
    clusters = {str(each.view.get("name")): each.view for each in store.resources(AKS) if each.status == "available"}
    found = [
        _agent_pool(profile, str(view.get("location")))
        for view in clusters.values()
        for profile in map(_mapping, json_items(view.get("agentPoolProfiles")))
    ]
    for pool in store.resources(AGENT_POOL):
        cluster = clusters.get(str(pool.view.get("resourceName")))
        if pool.status == "available" and cluster is not None:
            found.append(_agent_pool(pool.view, str(cluster.get("location"))))
    return found


def _agent_pool(view: Mapping[str, Json], region: str) -> NodeGroup:
    from gpufleet.catalog import azure

    zones = [f"{region}-{zone}" for zone in json_items(view.get("availabilityZones"))] or [f"{region}-0"]
    scaled = view.get("enableAutoScaling") is True
    count = int(cast("int", view.get("count") or 0))
    labels = _words(view.get("nodeLabels"))
    taints = [taint_of(str(taint)) for taint in json_items(view.get("nodeTaints"))]
    if view.get("scaleSetPriority") == "Spot":
        labels |= {SPOT_TAINT["key"]: SPOT_TAINT["value"]}
        taints += [taint for taint in (SPOT_TAINT,) if taint not in taints]
    # AKS's image has the driver, unless the pool says otherwise, and no device plugin:
    # https://learn.microsoft.com/azure/aks/use-nvidia-gpu
    driver = _mapping(view.get("gpuProfile")).get("driver") != "None"
    machine: Machine = {"driver": driver, "efa_interfaces": 0, "huge_pages": 0, "built_in": []}
    return NodeGroup(
        pool=str(view["name"]),
        desired=count,
        min=int(cast("int", view.get("minCount") or 0)) if scaled else count,
        max=int(cast("int", view.get("maxCount") or 0)) if scaled else count,
        type=str(view["vmSize"]),
        zones=tuple(zones),
        labels=labels,
        taints=tuple(taints),
        machine=machine if view.get("vmSize") in azure().types else None,
        scales_itself=scaled,
        tags=_words(view.get("tags")),
    )


def _zone(subnet: SimulatedResource) -> str:
    return zone_id(str(subnet.view.get("availabilityZoneId") or subnet.view.get("availabilityZone")))


def _words(value: Json) -> dict[str, str]:
    return {key: str(word) for key, word in _mapping(value).items()}


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}
