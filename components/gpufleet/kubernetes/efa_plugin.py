"""EfaPlugin: AWS's device plugin, which hands the EFA interfaces of a node to its pods."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.catalog.eks_registries import eks_registries
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.plugin_daemonset import NAMESPACE, Chart, Source, device_plugin, registered_plugin
from gpufleet.pools.eks_pool import Taint
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.device_plugins import validate_efa_plugin

VERSION = "0.5.13"
NODES = {"gpufleet.dev/network": "efa"}
"""Nodes of pools with network=efa. AWS's chart selects by a list of instance types, which a new type is not on."""
CHART = Chart("aws-efa-k8s-device-plugin", "v0.5.20", "https://aws.github.io/eks-charts", {"nodeSelector": NODES})
"""The chart whose plugin has VERSION. Source: github.com/aws/eks-charts, stable/aws-efa-k8s-device-plugin."""
DEFAULT_REGION = "us-west-2"
"""Region of the image in AWS's chart."""


class EfaPluginConfig(TypedDict):
    """Where the EFA device plugin comes from."""

    source: NotRequired[Source]
    """daemonset: one object, which shows in the preview; chart: AWS's Helm chart. Default daemonset."""
    version: NotRequired[str]
    """Version of the image, or with source=chart of the chart. Default 0.5.13, with the chart v0.5.20."""
    image: NotRequired[str]
    """Repository of the image, for a closed network. Default: that of EKS in the region."""


class EfaPluginArgs(EfaPluginConfig):
    """The same, and which nodes it runs on."""

    region: NotRequired[str]
    """Region of the cluster: EKS's own registry there has the image. Default us-west-2, from which nodes of all
    commercial regions may pull, if they have a way to the internet."""
    namespace: NotRequired[str]
    """Namespace; one that allows hostPath volumes and the host's network. Default kube-system."""
    tolerations: NotRequired[Sequence[Taint]]
    """Taints of EFA pools besides nvidia.com/gpu, which is tolerated always. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def efa_image(args: EfaPluginArgs) -> str:
    """Repository of the plugin's image. `args` has passed the rules."""
    region = args.get("region", DEFAULT_REGION)
    return args.get("image") or f"{eks_registries()[region].registry}/eks/{CHART.name}"


def plan_efa_plugin(args: EfaPluginArgs) -> dict[str, Any]:
    """The DaemonSet. `args` has passed the rules.

    The plugin reads /dev/infiniband and registers with the kubelet; root without any capability.
    Source: templates/daemonset.yaml of that chart.
    """
    container = {
        "image": f"{efa_image(args)}:v{args.get('version', VERSION)}",
        "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": False,
        },
    }
    return device_plugin(
        name=CHART.name,
        namespace=args.get("namespace", NAMESPACE),
        container=container,
        host_paths={"device-plugins": "/var/lib/kubelet/device-plugins", "infiniband": "/dev/infiniband"},
        node_selector=NODES,
        taints=args.get("tolerations", ()),
        more={"hostNetwork": True},
    )


class EfaPlugin(Component):
    """The EFA device plugin on the nodes of pools with EFA only."""

    resource: pulumi.Output[str]
    """vpc.amazonaws.com/efa, for those who need the plugin to be there."""

    def __init__(
        self, name: str, args: EfaPluginArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[EfaPluginArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: EfaPluginArgs) -> list[Finding]:
        return validate_efa_plugin(args)

    def create(self, name: str, args: EfaPluginArgs) -> None:
        known: EfaPluginArgs = {**args, "image": efa_image(args)}
        self.resource = registered_plugin(name, known, plan_efa_plugin(known), CHART, "vpc.amazonaws.com/efa", self)
