"""What the device plugins of NVIDIA and AWS have in common: a DaemonSet on GPU nodes only."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.pool import Taint

_EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}


def tolerations(taints: Sequence[Taint]) -> list[dict[str, str]]:
    """Tolerations of the taint of GPU nodes and of a pool's other taints, whatever their values."""
    own = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    others = [{"key": each["key"], "operator": "Exists", "effect": _EFFECTS[each["effect"]]} for each in taints]
    return [own, *others]


def device_plugin(
    name: str,
    namespace: str,
    container: Mapping[str, Any],
    host_paths: Mapping[str, str],
    node_selector: Mapping[str, str],
    taints: Sequence[Taint],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """The DaemonSet `name` of one container. host_paths: name of a volume to the host's directory, mounted there too.

    `more`: further fields of the pod. A tenth of the nodes is updated at a time: a node without its plugin keeps its
    running pods, but takes no new ones.
    """
    labels = {"app.kubernetes.io/name": name}
    mounts = [{"name": volume, "mountPath": path} for volume, path in host_paths.items()]
    pod = {
        # Never evicted for others, and scheduled first on a new node.
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "nodeSelector": dict(node_selector),
        "tolerations": tolerations(taints),
        "containers": [{"name": name, "volumeMounts": mounts, **container}],
        "volumes": [{"name": volume, "hostPath": {"path": path}} for volume, path in host_paths.items()],
        **more,
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
            "template": {"metadata": {"labels": labels}, "spec": pod},
        },
    }
