"""The nodes with GPUs of a cluster by their pool: how many are ready, and how many of their GPUs pods hold."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.fleet.gpu_jobs import gpus_of
from gpufleet.fleet.node_facts import NodeFacts, node_facts

_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class NodePool:
    """name: its label gpufleet.dev/pool, empty where nodes have none. nodes: facts of each. ready: nodes that take
    pods. gpus: of all nodes; used: GPUs of pods that are bound to them and have not ended."""

    name: str
    nodes: tuple[NodeFacts, ...]
    ready: int
    gpus: int
    used: int


def node_pools(nodes: Iterable[Mapping[str, Any]], pods: Sequence[Mapping[str, Any]]) -> list[NodePool]:
    """The pools by name, of objects as the API has them."""
    held: dict[str, int] = {}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") not in _ENDED and (name := pod["spec"].get("nodeName")):
            held[name] = held.get(name, 0) + gpus_of(pod)
    groups: dict[str, list[tuple[NodeFacts, Mapping[str, Any]]]] = {}
    for node in nodes:
        facts = node_facts(node)
        if facts.node_gpus or facts.pool:
            groups.setdefault(facts.pool, []).append((facts, node))
    return [
        NodePool(
            name,
            tuple(facts for facts, _ in group),
            sum(_takes_pods(node) for _, node in group),
            sum(facts.node_gpus or 0 for facts, _ in group),
            sum(held.get(node["metadata"]["name"], 0) for _, node in group),
        )
        for name, group in sorted(groups.items())
    ]


def _takes_pods(node: Mapping[str, Any]) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    return ready and not (node.get("spec") or {}).get("unschedulable")
