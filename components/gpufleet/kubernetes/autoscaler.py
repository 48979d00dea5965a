"""Autoscaler: the cluster autoscaler, by which pools leave zero when a job comes and return to zero after it."""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.kubernetes.helm_release import chart_release
from gpufleet.pools.node_labels import REGION_LABEL
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.autoscaler import validate_autoscaler

VERSION = "9.52.1"
"""Chart of October 2025, whose autoscaler is that of Kubernetes 1.34. Source: github.com/kubernetes/autoscaler."""
CHARTS = "https://kubernetes.github.io/autoscaler"
IMAGE = "registry.k8s.io/autoscaling/cluster-autoscaler"
"""The image's repository in that chart."""
NAMESPACE = "kube-system"
SERVICE_ACCOUNT = "cluster-autoscaler"
"""What the pod identity of the autoscaler's role is bound to: gpufleet.aws.autoscaler_identity."""


class AutoscalerConfig(TypedDict):
    """How fast pools shrink, and how long a new node may take."""

    version: NotRequired[str]
    """Version of the chart. Default 9.52.1."""
    image: NotRequired[str]
    """Repository of the image, for a closed network; its tag is the chart's. Default
    registry.k8s.io/autoscaling/cluster-autoscaler."""
    idle_minutes: NotRequired[int]
    """Minutes without work after which a node goes. Default 10."""
    provision_minutes: NotRequired[int]
    """Minutes within which a new node has to be Ready; another pool is tried then. Default 20: GPU nodes are slow."""
    values: NotRequired[Mapping[str, Any]]
    """Further values of the chart, which win over those of here."""


class AutoscalerArgs(AutoscalerConfig):
    """The same, and which cluster's pools grow and shrink. For EKS; AKS has its own autoscaler."""

    cluster_name: pulumi.Input[str]
    """The EKS cluster. Its autoscaling groups are found by the tags that EKS gives them."""
    region: str
    """Region of the cluster, for instance us-east-1."""
    labels: NotRequired[Mapping[str, str]]
    """Labels of the autoscaler's objects."""


def plan_values(args: AutoscalerArgs) -> dict[str, Any]:
    """The values of the chart. `args` has passed the rules.

    scale-down-unneeded-time: how long GPUs are paid for without work. least-waste: a job that fits on a small node
    does not start a large one. Nodes under a running job stay: its pods say that they may not be evicted. It runs on
    nodes of EC2 only, which carry their region: nothing gives it its identity on own servers that joined the cluster.
    Source: github.com/kubernetes/autoscaler, cluster-autoscaler/FAQ.md and charts/cluster-autoscaler/values.yaml.
    """
    idle = f"{int(args.get('idle_minutes', 10))}m"
    values = {
        "cloudProvider": "aws",
        "awsRegion": args["region"],
        "autoDiscovery": {"clusterName": args["cluster_name"]},
        "fullnameOverride": "cluster-autoscaler",
        "rbac": {"serviceAccount": {"create": True, "name": SERVICE_ACCOUNT}},
        "priorityClassName": "system-cluster-critical",
        "nodeSelector": {REGION_LABEL: args["region"]},
        "resources": {"requests": {"cpu": "100m", "memory": "600Mi"}},
        "extraArgs": {
            "expander": "least-waste",
            "max-node-provision-time": f"{int(args.get('provision_minutes', 20))}m",
            "scale-down-delay-after-add": idle,
            "scale-down-unneeded-time": idle,
            "skip-nodes-with-system-pods": False,
        },
        **({"image": {"repository": args["image"]}} if "image" in args else {}),
        **({"additionalLabels": dict(args["labels"])} if args.get("labels") else {}),
    }
    return values | dict(args.get("values", {}))


class Autoscaler(Component):
    """The cluster autoscaler's chart for EKS.

    Its rights come from a pod identity, which the cluster's own stack makes.
    """

    service_account: pulumi.Output[str]
    """Namespace and name of the service account, as kube-system/cluster-autoscaler."""

    def __init__(
        self, name: str, args: AutoscalerArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[AutoscalerArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: AutoscalerArgs) -> list[Finding]:
        return validate_autoscaler(args)

    def create(self, name: str, args: AutoscalerArgs) -> None:
        release = chart_release(
            f"{name}-release",
            chart="cluster-autoscaler",
            version=args.get("version", VERSION),
            namespace=NAMESPACE,
            values=plan_values(args),
            opts=self.child(),
            repository=CHARTS,
        )
        self.service_account = with_dependencies(pulumi.Output.from_input(f"{NAMESPACE}/{SERVICE_ACCOUNT}"), release)
