"""Layers of AWS's network above an instance type, as DescribeInstanceTopology returns them and EKS labels its nodes."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gpufleet.documents.json import read_json

LAYER_LABEL = "topology.k8s.aws/network-node-layer-"
"""Before the layer's number, from 1, the broadest. Source: docs.aws.amazon.com/eks/latest/userguide/
ml-workload-topology.html; kubernetes/cloud-provider-aws#1038."""


@cache
def network_layers() -> Mapping[str, int]:
    """The number of layers by instance type. A type that is missing has no such labels."""
    rows = read_json(Path(__file__).with_suffix(".json"))
    return {row["type"]: int(row["layers"]) for row in rows}
