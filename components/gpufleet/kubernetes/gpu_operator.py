"""GpuOperator: NVIDIA's GPU operator, for nodes without a driver: AKS pools with driver=none, on-prem servers."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.kubernetes.plugin_daemonset import tolerations
from gpufleet.pools.eks_pool import Taint
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.device_plugins import validate_gpu_operator

VERSION = "v26.7.0"
"""Source: helm.ngc.nvidia.com/nvidia, November 2026."""
CHARTS = "https://helm.ngc.nvidia.com/nvidia"


class GpuOperatorConfig(TypedDict):
    """What the operator installs on GPU nodes, besides the device plugin."""

    version: NotRequired[str]
    """Version of the chart. Default v26.7.0."""
    driver: NotRequired[bool]
    """False: the nodes' image has the driver. Default true."""
    rdma: NotRequired[bool]
    """True: GPUs read and write the network directly, for InfiniBand; the network operator is installed apart, and
    finds the nodes' features too. Default false."""


class GpuOperatorArgs(GpuOperatorConfig):
    """The same, and which nodes these are."""

    tolerations: NotRequired[Sequence[Taint]]
    """Taints of GPU pools besides nvidia.com/gpu, which is tolerated always. Default: none."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the operator's DaemonSets."""


def plan_values(args: GpuOperatorArgs) -> dict[str, Any]:
    """The values of the chart. `args` has passed the rules.

    With the network operator there is one discovery of node features, its own.
    Source: docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/gpu-operator-rdma.html,
    learn.microsoft.com/azure/aks/use-nvidia-gpu.
    """
    rdma = args.get("rdma", False)
    daemonsets: dict[str, Any] = {"tolerations": tolerations(args.get("tolerations", ()))}
    if args.get("labels"):
        daemonsets["labels"] = dict(args["labels"])
    values = {
        "driver": {"enabled": args.get("driver", True), "rdma": {"enabled": rdma}},
        "nfd": {"enabled": not rdma},
        "daemonsets": daemonsets,
    }
    return values | dict(args.get("values", {}))


class GpuOperator(Component):
    """NVIDIA's GPU operator: driver, container toolkit, device plugin and DCGM on GPU nodes. Instead of DevicePlugin.

    Its own namespace, gpu-operator, allows privileged pods: they load kernel modules.
    """

    resource: pulumi.Output[str]
    """nvidia.com/gpu, for those who need the operator to be there."""

    def __init__(
        self, name: str, args: GpuOperatorArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[GpuOperatorArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: GpuOperatorArgs) -> list[Finding]:
        return validate_gpu_operator(args)

    def create(self, name: str, args: GpuOperatorArgs) -> None:
        release = chart_release(
            f"{name}-release",
            chart="gpu-operator",
            version=args.get("version", VERSION),
            namespace="gpu-operator",
            values=plan_values(args),
            opts=self.child(),
            repository=CHARTS,
        )
        self.resource = with_dependencies(pulumi.Output.from_input("nvidia.com/gpu"), release)
