"""EfaPlugin: AWS's device plugin, which hands the EFA interfaces of a node to its pods."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

import pulumi

from gpufleet.kubernetes.device_plugins import device_plugin, tolerations
from gpufleet.kubernetes.objects import kubernetes_object, labelled
from gpufleet.kubernetes.release import chart_release
from gpufleet.ordering import after
from gpufleet.pool import Taint
from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments
from gpufleet.rules.kubernetes.plugin import judge_efa_plugin

VERSION = "0.5.13"
CHART_VERSION = "v0.5.20"
"""The chart whose plugin has VERSION. Source: github.com/aws/eks-charts, stable/aws-efa-k8s-device-plugin."""
CHARTS = "https://aws.github.io/eks-charts"
REGISTRY = "602401143452.dkr.ecr.us-west-2.amazonaws.com"
"""Registry of EKS's own images; nodes of any commercial region may pull from it.

Source: docs.aws.amazon.com/eks/latest/userguide/add-ons-images.html, which lists one for each region.
"""
_NAME = "aws-efa-k8s-device-plugin"


class EfaPluginArgs(TypedDict):
    """Where the EFA device plugin comes from and which nodes it runs on."""

    source: NotRequired[str]
    """daemonset: one object, which shows in the preview; chart: AWS's Helm chart. Default daemonset."""
    version: NotRequired[str]
    """Version of the image, or with source=chart of the chart. Default 0.5.13, with the chart v0.5.20."""
    image: NotRequired[str]
    """Repository of the image, for the registry of a region or a closed network. Default: that of us-west-2."""
    namespace: NotRequired[str]
    """Namespace; one that allows hostPath volumes and the host's network. Default kube-system."""
    tolerations: NotRequired[Sequence[Taint]]
    """Taints of EFA pools besides nvidia.com/gpu, which is tolerated always. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the objects."""


def plan_efa_plugin(args: EfaPluginArgs) -> dict[str, Any]:
    """The DaemonSet. `args` has passed the rules.

    Nodes of pools with network=efa get it. AWS's chart selects by a list of instance types instead, which a new type
    is not on. The plugin reads /dev/infiniband and registers with the kubelet; root without any capability.
    Source: templates/daemonset.yaml of that chart.
    """
    repository = args.get("image", f"{REGISTRY}/eks/{_NAME}")
    container = {
        "image": f"{repository}:v{args.get('version', VERSION)}",
        "resources": {"requests": {"cpu": "10m", "memory": "20Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": False,
        },
    }
    return device_plugin(
        name=_NAME,
        namespace=args.get("namespace", "kube-system"),
        container=container,
        host_paths={"device-plugins": "/var/lib/kubelet/device-plugins", "infiniband": "/dev/infiniband"},
        node_selector={"gpufleet.dev/network": "efa"},
        taints=args.get("tolerations", ()),
        more={"hostNetwork": True},
    )


def plan_values(args: EfaPluginArgs) -> dict[str, Any]:
    """The values of AWS's chart. `args` has passed the rules."""
    values: dict[str, Any] = {
        "nodeSelector": {"gpufleet.dev/network": "efa"},
        "tolerations": tolerations(args.get("tolerations", ())),
    }
    return values | ({"image": {"repository": args["image"]}} if "image" in args else {})


class EfaPlugin(pulumi.ComponentResource):
    """The EFA device plugin on the nodes of pools with EFA, and on no other node.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    resource: pulumi.Output[str]
    """vpc.amazonaws.com/efa, for those who need the plugin to be there."""

    def __init__(self, name: str, args: EfaPluginArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        refuse_or_warn(name, [*judge_arguments(args, EfaPluginArgs), *judge_efa_plugin(args)])
        super().__init__("gpufleet-kubernetes:index:EfaPlugin", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        made: pulumi.Resource
        if args.get("source", "daemonset") == "chart":
            made = chart_release(
                f"{name}-release",
                chart=_NAME,
                version=args.get("version", CHART_VERSION),
                namespace=args.get("namespace", "kube-system"),
                values=plan_values(args),
                opts=child,
                repository=CHARTS,
            )
        else:
            made = kubernetes_object(
                f"{name}-daemonset", labelled(plan_efa_plugin(args), args.get("labels", {})), child
            )
        self.resource = after(pulumi.Output.from_input("vpc.amazonaws.com/efa"), made)
        self.register_outputs({"resource": self.resource})
