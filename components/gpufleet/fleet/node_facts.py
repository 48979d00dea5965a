"""Facts of a node that say what its GPUs cost, by its labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet.fleet.gpu_jobs import GPU
from gpufleet.pools.node_labels import PREFIX


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """Empty texts are not known. capacity: on-demand, spot or another word of the pool. node_gpus: of the whole node;
    None where that is not known."""

    pool: str
    place: str
    type: str
    region: str
    capacity: str
    node_gpus: int | None


def node_facts(node: Mapping[str, Any] | None, wanted: Mapping[str, str] | None = None) -> NodeFacts:
    """The facts of a node as the API has it. wanted: the labels that a pod asked for, where its node is gone."""
    labels = (node["metadata"].get("labels") if node else wanted) or {}
    capacity = (node.get("status") or {}).get("capacity") or {} if node else {}
    return NodeFacts(
        pool=str(labels.get(f"{PREFIX}pool") or ""),
        place=str(labels.get(f"{PREFIX}place") or ""),
        type=str(labels.get("node.kubernetes.io/instance-type") or ""),
        region=str(labels.get("topology.kubernetes.io/region") or ""),
        capacity=str(labels.get(f"{PREFIX}capacity") or ""),
        node_gpus=int(capacity[GPU]) if GPU in capacity else None,
    )
