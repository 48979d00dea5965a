"""NodeLabels: the labels of cloud pools (GPU model, place, zone) on existing nodes of a cluster."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict, Unpack

import pulumi
from pulumi_kubernetes import core

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import node_labels
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.onprem_nodes import validate_onprem_nodes

PLACE = "onprem"
"""Default place of on-prem servers."""


class NodeLabelsArgs(TypedDict):
    """Nodes with the same GPUs in the same place."""

    gpu: str
    """GPU model by which jobs select nodes, for instance V100; the catalog's name if it has one."""
    gpus: int
    """GPUs of each node."""
    nodes: Sequence[str]
    """Names of the nodes, as `kubectl get nodes` prints them."""
    place: NotRequired[str]
    """Place by which jobs select nodes: onprem, a name that you choose, or cloud. Default onprem."""
    zone: NotRequired[str]
    """Zone: all workers of a job run in one zone. Default: the place."""
    taints: NotRequired[Sequence[Taint]]
    """Taints of the nodes besides nvidia.com/gpu, which jobs always tolerate; jobs tolerate these too. They are not
    created: see NodeLabels. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """More labels of the nodes. Default: none."""


def zone_of(args: NodeLabelsArgs) -> str:
    """The value of the nodes' label gpufleet.dev/zone-id."""
    return args.get("zone", args.get("place", PLACE))


def plan_labels(name: str, args: NodeLabelsArgs) -> dict[str, str]:
    """The labels of the nodes of the pool ``name``. `args` has passed the rules."""
    fields = {"capacity": "own", "network": "plain", "placement": "none"}
    own = node_labels(name, [args["gpu"]], [zone_of(args)], fields, args.get("place", PLACE))
    return {**args.get("labels", {}), **own}


class NodeLabels(Component, former_name="OwnNodes"):
    """Labels of nodes that are managed elsewhere: a NodePatch for each, which owns only its labels.

    A node that is added to the list gets the labels; one that is removed loses them and gets no further jobs. Other
    nodes and running pods are not affected. Drain a node before its machine goes: `kubectl drain`.

    A preview does not read the cluster, so a wrong name is not detected: the patch creates an empty node of that name
    (pulumi/pulumi-kubernetes#2194), which never becomes ready and which `gpufleet check` shows.

    Taints are not patched: all taints of a node are one value in a server-side apply (x-kubernetes-list-type: atomic
    of NodeSpec.taints), which cordon and the node controller also write. Set them when the node joins (the kubelet's
    --register-with-taints) or by `kubectl taint`, and name them in `taints`.
    """

    pool: pulumi.Output[str]
    """Value of the nodes' label gpufleet.dev/pool, once they are labelled."""

    def __init__(
        self, name: str, args: NodeLabelsArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NodeLabelsArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NodeLabelsArgs) -> list[Finding]:
        return validate_onprem_nodes(args)

    def create(self, name: str, args: NodeLabelsArgs) -> None:
        labels = plan_labels(name, args)
        # What a server-side apply sets of a node are these fields and nothing else.
        patches = [
            core.v1.NodePatch(f"{name}-{node}", metadata={"name": node, "labels": labels}, opts=self.child())
            for node in args["nodes"]
        ]
        self.pool = with_dependencies(pulumi.Output.from_input(name), *patches)
