"""Cilium: the network of pods on on-prem servers that joined an EKS cluster, where Amazon's VPC CNI does not run."""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.cilium import MASK_SIZE, validate_cilium

VERSION = "1.17.6-0"
"""AWS's own build, which it supports on hybrid nodes: 1.17 and 1.18, for every version of Kubernetes that EKS has.

Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cni.html
"""
CHART = "oci://public.ecr.aws/eks/cilium/cilium"
HYBRID = ("eks.amazonaws.com/compute-type", "hybrid")
"""Label that EKS hybrid nodes have; the VPC CNI keeps off nodes with it."""


class CiliumConfig(TypedDict):
    """Which Cilium, and how many addresses of pods a server has."""

    mask_size: NotRequired[int]
    """Prefix of the part that each server takes of them. Default 25, 126 pods."""
    version: NotRequired[str]
    """Version of the chart, AWS's build. Default 1.17.6-0."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here."""


class CiliumArgs(CiliumConfig):
    """The same, and addresses of pods on on-prem servers."""

    pod_cidrs: Sequence[str]
    """IPv4 ranges of pods on on-prem servers, for instance ["10.81.0.0/16"]: those of the cluster's
    remote_networks, if it has any. Do not change them while servers have pods."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the agents' pods."""


def plan_values(args: CiliumArgs) -> dict[str, Any]:
    """The values of the chart. `args` has passed the rules.

    Source: docs.aws.amazon.com/eks/latest/userguide/hybrid-nodes-cni.html; its operator would restart pods of the VPC
    CNI, which it does not know.
    """
    terms = [{"matchExpressions": [{"key": HYBRID[0], "operator": "In", "values": [HYBRID[1]]}]}]
    own = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    values: dict[str, Any] = {
        "affinity": own,
        "envoy": {"enabled": False},
        "hubble": {"enabled": False},
        "ipam": {
            "mode": "cluster-pool",
            "operator": {
                "clusterPoolIPv4MaskSize": int(args.get("mask_size", MASK_SIZE)),
                "clusterPoolIPv4PodCIDRList": list(args["pod_cidrs"]),
            },
        },
        # One: a second one has no place where there is one server.
        "operator": {"affinity": own, "replicas": 1, "unmanagedPodWatcher": {"restart": False}},
        "podLabels": dict(args.get("labels", {})),
    }
    return values | dict(args.get("values", {}))


class Cilium(Component):
    """Cilium on the on-prem servers of an EKS cluster, and on no cloud node.

    Nobody waits for it: before the first server has joined, there is no node for its operator to run on.
    """

    release: pulumi.Output[str]
    """cilium, for those who need it to be asked for."""

    def __init__(
        self, name: str, args: CiliumArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[CiliumArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: CiliumArgs) -> list[Finding]:
        return validate_cilium(args)

    def create(self, name: str, args: CiliumArgs) -> None:
        release = chart_release(
            f"{name}-release",
            chart=CHART,
            version=args.get("version", VERSION),
            namespace="kube-system",
            values=plan_values(args),
            opts=self.child(),
            waits=False,
        )
        self.release = with_dependencies(pulumi.Output.from_input("cilium"), release)
