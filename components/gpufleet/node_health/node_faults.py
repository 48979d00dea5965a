"""What is wrong with a node: its devices, its conditions, its GPUs' metrics. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from .gpu_faults import FAULT_TABLE, NodeFault, gpu_faults

GPU, EFA = "nvidia.com/gpu", "vpc.amazonaws.com/efa"
_TYPE_LABEL = "node.kubernetes.io/instance-type"
_POOL_LABEL = "gpufleet.dev/pool"
_DEVICES = {GPU: "GPUs", EFA: "EFA interfaces"}
Expected = Mapping[str, Mapping[str, int]]
"""`types` and `pools`: an instance type, or a pool's label, to the GPUs of a node."""


def is_gpu_node(node: Mapping[str, Any]) -> bool:
    """By the label of gpufleet's pools and of NVIDIA's discovery, or by its GPUs."""
    capacity = node.get("status", {}).get("capacity", {})
    return labels_of(node).get("nvidia.com/gpu.present") == "true" or _count(capacity, GPU) > 0


def pool_of(node: Mapping[str, Any]) -> str:
    """The node's pool; its instance type where it has none."""
    labels = labels_of(node)
    return str(labels.get(_POOL_LABEL) or labels.get(_TYPE_LABEL) or "")


def labels_of(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return node["metadata"].get("labels") or {}


def age_of(node: Mapping[str, Any], now: datetime) -> timedelta:
    return now - moment_of(node["metadata"]["creationTimestamp"])


def moment_of(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def device_faults(node: Mapping[str, Any], expected: Expected) -> Iterator[NodeFault]:
    """Devices that are not there, or that their plugin calls unhealthy: capacity counts all, allocatable the healthy
    ones (kubernetes/kubernetes, pkg/kubelet/cm/devicemanager/manager.go, GetCapacity).

    A restart of the kubelet or of the plugin looks the same: judge them over some time.
    """
    status, labels = node.get("status", {}), labels_of(node)
    capacity, allocatable = status.get("capacity", {}), status.get("allocatable", {})
    told = expected.get("pools", {}).get(labels.get(_POOL_LABEL, ""))
    wanted = told if told is not None else expected.get("types", {}).get(labels.get(_TYPE_LABEL, ""), 0)
    for resource, name in _DEVICES.items():
        most = max(_count(capacity, resource), wanted if resource == GPU else 0)
        usable = _count(allocatable, resource)
        if usable < most:
            yield NodeFault(
                f"fewer-{resource.rpartition('/')[2]}",
                f"{usable} of {most} {name} are usable",
                "look at the node's driver and device plugin; replace the node if one is broken",
            )


def condition_faults(node: Mapping[str, Any]) -> Iterator[NodeFault]:
    """What the cloud's own agent has found."""
    for each in node.get("status", {}).get("conditions") or []:
        row = FAULT_TABLE["conditions"].get(each.get("type"))
        if row is not None and each.get("status") == row["bad"]:
            words = " ".join(f"{each.get('reason', '')} {each.get('message', '')}".split())[:200]
            yield NodeFault(
                f"condition-{each['type']}", f"{row['by']}: {each['type']}={row['bad']}: {words}", row["fix"], True
            )


def faults_of(node: Mapping[str, Any], metrics: str, expected: Expected) -> list[NodeFault]:
    """Everything, the most certain first. metrics: of the node's exporter, empty where there is none."""
    return [*gpu_faults(metrics), *condition_faults(node), *device_faults(node, expected)]


def _count(resources: Mapping[str, Any], resource: str) -> int:
    text = str(resources.get(resource) or "0")
    return int(text) if text.isdigit() and len(text) < 6 else 0


def first_fix(faults: Sequence[NodeFault]) -> str:
    return faults[0].fix if faults else ""
