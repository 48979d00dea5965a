"""What the device plugins of NVIDIA and AWS have in common: a DaemonSet on GPU nodes only, or the vendor's chart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pulumi

from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import EFFECTS
from gpufleet.pulumi_outputs import with_dependencies

Source = Literal["daemonset", "chart"]

NAMESPACE = "kube-system"
"""Default namespace of the plugins: it allows hostPath volumes, and priority system-node-critical."""


def tolerations(taints: Sequence[Taint]) -> list[dict[str, str]]:
    """Tolerations of the taint of GPU nodes and of a pool's other taints, whatever their values."""
    own = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    others = [{"key": each["key"], "operator": "Exists", "effect": EFFECTS[each["effect"]]} for each in taints]
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


@dataclass(frozen=True)
class Chart:
    """A vendor's Helm chart. values: besides tolerations and the image's repository, which all of them take alike."""

    name: str
    version: str
    repository: str
    values: Mapping[str, Any]


def plan_values(args: Mapping[str, Any], chart: Chart) -> dict[str, Any]:
    """The values of a plugin's chart, from the arguments of its component."""
    values = {**chart.values, "tolerations": tolerations(args.get("tolerations", ()))}
    return values | ({"image": {"repository": args["image"]}} if "image" in args else {})


def registered_plugin(
    name: str,
    args: Mapping[str, Any],
    daemonset: Mapping[str, Any],
    chart: Chart,
    resource: str,
    parent: pulumi.Resource,
) -> pulumi.Output[str]:
    """Register a plugin as `daemonset` or as `chart`, by the argument `source` of its component.

    resource: what nodes have as soon as the plugin runs there; returned once it is registered.
    """
    child = pulumi.ResourceOptions(parent=parent)
    made: pulumi.Resource
    if args.get("source", "daemonset") == "chart":
        made = chart_release(
            f"{name}-release",
            chart=chart.name,
            version=args.get("version", chart.version),
            namespace=args.get("namespace", NAMESPACE),
            values=plan_values(args, chart),
            opts=child,
            repository=chart.repository,
        )
    else:
        made = kubernetes_object(f"{name}-daemonset", labelled(daemonset, args.get("labels", {})), child)
    return with_dependencies(pulumi.Output.from_input(resource), made)
