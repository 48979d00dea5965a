"""DevicePlugin: NVIDIA's device plugin, which tells Kubernetes how many GPUs a node has."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.plugin_daemonset import NAMESPACE, Chart, Source, device_plugin, registered_plugin
from gpufleet.pools.eks_pool import Taint
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.device_plugins import validate_device_plugin

VERSION = "0.20.0"
"""Source: github.com/NVIDIA/k8s-device-plugin, releases; chart and image have the same version."""
CHART = Chart("nvidia-device-plugin", VERSION, "https://nvidia.github.io/k8s-device-plugin", values={})
"""Its own affinity takes nodes with nvidia.com/gpu.present=true already.

Source: deployments/helm/nvidia-device-plugin/values.yaml of github.com/NVIDIA/k8s-device-plugin.
"""
IMAGE = "nvcr.io/nvidia/k8s-device-plugin"
"""The image's repository."""


class DevicePluginConfig(TypedDict):
    """Where NVIDIA's device plugin comes from."""

    source: NotRequired[Source]
    """daemonset: one object, which shows in the preview; chart: NVIDIA's Helm chart. Default daemonset."""
    version: NotRequired[str]
    """Version of image and chart. Default 0.20.0."""
    image: NotRequired[str]
    """Repository of the image, for a closed network. Default nvcr.io/nvidia/k8s-device-plugin."""


class DevicePluginArgs(DevicePluginConfig):
    """The same, and which nodes it runs on."""

    namespace: NotRequired[str]
    """Namespace; one that allows hostPath volumes. Default kube-system."""
    tolerations: NotRequired[Sequence[Taint]]
    """Taints of GPU pools besides nvidia.com/gpu, which is tolerated always. Default: none."""
    excluded_pools: NotRequired[Sequence[str]]
    """Pools, by their label gpufleet.dev/pool, whose nodes bring the plugin along. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def affinity_without(pools: Sequence[str]) -> dict[str, Any]:
    """The affinity of GPU nodes that are of none of these pools."""
    present = {"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}
    others = {"key": "gpufleet.dev/pool", "operator": "NotIn", "values": list(pools)}
    terms = [{"matchExpressions": [present, others]}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


def plan_device_plugin(args: DevicePluginArgs) -> dict[str, Any]:
    """The DaemonSet. `args` has passed the rules.

    Nodes without a GPU never get it: it selects the label that every node of a gpufleet pool carries. Nor do nodes
    with their own plugin: beside Bottlerocket's, neither hands out GPUs (bottlerocket-os/bottlerocket#4309). It
    needs the kubelet's directory of device plugins and nothing else: no privilege, no host network.
    Source: github.com/NVIDIA/k8s-device-plugin (deployments/static, README: FAIL_ON_INIT_ERROR).
    """
    excluded = args.get("excluded_pools", ())
    container = {
        "image": f"{args.get('image', IMAGE)}:v{args.get('version', VERSION)}",
        # A node whose driver is not up yet is tried again by the kubelet and does not crash-loop the pod.
        "env": [{"name": "FAIL_ON_INIT_ERROR", "value": "false"}],
        "resources": {"requests": {"cpu": "10m", "memory": "64Mi"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return device_plugin(
        name=CHART.name,
        namespace=args.get("namespace", NAMESPACE),
        container=container,
        host_paths={"device-plugins": "/var/lib/kubelet/device-plugins"},
        node_selector={"nvidia.com/gpu.present": "true"},
        taints=args.get("tolerations", ()),
        more={"affinity": affinity_without(excluded)} if excluded else {},
    )


class DevicePlugin(Component):
    """NVIDIA's device plugin on the GPU nodes of a cluster only.

    Not beside NVIDIA's GPU operator, which installs it. Nodes of the image bottlerocket bring it along: name their
    pools in excluded_pools.
    """

    resource: pulumi.Output[str]
    """nvidia.com/gpu, for those who need the plugin to be there."""

    def __init__(
        self, name: str, args: DevicePluginArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[DevicePluginArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: DevicePluginArgs) -> list[Finding]:
        return validate_device_plugin(args)

    def create(self, name: str, args: DevicePluginArgs) -> None:
        excluded = args.get("excluded_pools", ())
        chart = replace(CHART, values={"affinity": affinity_without(excluded)}) if excluded else CHART
        self.resource = registered_plugin(name, args, plan_device_plugin(args), chart, "nvidia.com/gpu", self)
