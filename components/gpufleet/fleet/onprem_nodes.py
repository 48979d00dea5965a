"""GPUs of on-prem nodes, which are in no catalog: by the pools in the stack's output `jobs`."""

from collections.abc import Mapping

from gpufleet.fleet.stack_state import StackState
from gpufleet.plan.property_values import get_path, number
from gpufleet.pools.node_labels import PREFIX

_NODE = "kubernetes:core/v1:NodePatch"
_ACCESS = "aws:eks/accessEntry:AccessEntry"


def onprem_gpus(state: StackState) -> list[int | None]:
    """GPUs of each on-prem node that a stack has labelled with a pool, and of each pool of servers that may join its
    cluster of EKS; None where its outputs do not tell. Which servers have joined only the cluster knows."""
    patches = [
        get_path(each.get("inputs"), "metadata", "labels") for each in state.resources if each.get("type") == _NODE
    ]
    labels = [each.get(f"{PREFIX}pool") for each in patches if isinstance(each, Mapping)]
    entries = [get_path(each.get("inputs"), "type") for each in state.resources if each.get("type") == _ACCESS]
    joining = "HYBRID_LINUX" in entries
    pools = _own_pools(state) if labels or joining else {}
    found = [number(pools[label].get("gpus")) if label in pools else None for label in labels]
    return found + ([_of_all(each) for each in pools.values()] or [None] if joining else [])


def _of_all(pool: Mapping[str, object]) -> int | None:
    gpus, nodes = number(pool.get("gpus")), number(pool.get("max"))
    return None if gpus is None or nodes is None else gpus * nodes


def _own_pools(state: StackState) -> dict[object, Mapping[str, object]]:
    """Pools of own nodes by the nodes' label, from the stack's output `jobs`. gpus: of a node; max: all its nodes."""
    root = next((each for each in state.resources if each.get("type") == "pulumi:pulumi:Stack"), {})
    pools = get_path(root.get("outputs"), "jobs", "pools")
    found = pools.values() if isinstance(pools, Mapping) else ()
    return {each.get("label"): each for each in found if isinstance(each, Mapping) and "gpus" in each}
