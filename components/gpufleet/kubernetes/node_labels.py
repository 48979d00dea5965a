"""NodeLabels: nodes that are in a cluster already, labelled by GPU type and place as nodes of cloud pools are."""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict, Unpack

import pulumi
from pulumi_kubernetes import core

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import node_labels
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.kubernetes.onprem_nodes import validate_own_nodes

PLACE = "onprem"
"""Where own servers are, if nothing else is said."""


class NodeLabelsArgs(TypedDict):
    """Nodes of one kind: the same GPUs, in the same place."""

    gpu: str
    """GPU model, as jobs ask for it, for instance V100; the catalog's word where it has one."""
    gpus: int
    """GPUs of each node."""
    nodes: Sequence[str]
    """Names of the nodes, as `kubectl get nodes` prints them."""
    place: NotRequired[str]
    """Where they are, as jobs ask for it: onprem, another word of your own, or cloud. Default onprem."""
    zone: NotRequired[str]
    """Which of them are near each other: all workers of a job are in one zone. Default: the place."""
    taints: NotRequired[Sequence[Taint]]
    """Taints that they have, besides nvidia.com/gpu, which jobs tolerate always; jobs tolerate these too. They are
    not made: see NodeLabels. Default: none."""
    labels: NotRequired[Mapping[str, str]]
    """More labels of the nodes. Default: none."""


def zone_of(args: NodeLabelsArgs) -> str:
    """The value of the nodes' label gpufleet.dev/zone-id."""
    return args.get("zone", args.get("place", PLACE))


def plan_labels(name: str, args: NodeLabelsArgs) -> dict[str, str]:
    """The labels of the nodes of the pool ``name``. `args` has passed the rules."""
    words = {"capacity": "own", "network": "plain", "placement": "none"}
    own = node_labels(name, [args["gpu"]], [zone_of(args)], words, args.get("place", PLACE))
    return {**args.get("labels", {}), **own}


class NodeLabels(Component):
    """Labels of nodes that somebody else made and will unmake: a NodePatch for each, which owns its labels only.

    A node that is added to the list is labelled, one that is taken out loses these labels and takes no further job;
    neither touches the other nodes, nor pods that run. Drain a node before its machine goes: `kubectl drain`.

    A preview asks no cluster, so a name that is no node's is not found out: the patch makes an empty node of that name
    (pulumi/pulumi-kubernetes#2194), which never gets ready, and which `gpufleet check` shows.

    Taints are not patched: all taints of a node are one value in a server-side apply (x-kubernetes-list-type: atomic
    of NodeSpec.taints), which cordon and the node's health write, too. Give them when the node joins (the kubelet's
    --register-with-taints) or by `kubectl taint`, and name them in `taints`.
    """

    pool: pulumi.Output[str]
    """Value of gpufleet.dev/pool of the nodes, for those who need them to be labelled."""

    def __init__(
        self, name: str, args: NodeLabelsArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NodeLabelsArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NodeLabelsArgs) -> list[Finding]:
        return validate_own_nodes(args)

    def create(self, name: str, args: NodeLabelsArgs) -> None:
        labels = plan_labels(name, args)
        # What a server-side apply sets of a node are these fields and nothing else.
        patches = [
            core.v1.NodePatch(f"{name}-{node}", metadata={"name": node, "labels": labels}, opts=self.child())
            for node in args["nodes"]
        ]
        self.pool = with_dependencies(pulumi.Output.from_input(name), *patches)
