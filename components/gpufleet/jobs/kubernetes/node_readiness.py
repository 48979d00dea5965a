"""Whether a pool's nodes are what a run needs: Ready, in one place, with all of their devices. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.jobs.kubernetes.check_result import CheckResult, failed_check, passed_check, unknown_check
from gpufleet.jobs.kubernetes.pending_pods import format_name_ranges
from gpufleet.jobs.pool_info import PoolInfo

GPU, EFA = "nvidia.com/gpu", "vpc.amazonaws.com/efa"
FAKE_NODE_ANNOTATION = "kwok.x-k8s.io/node"
"""Annotation of nodes behind which no machine is, as in a rehearsal."""
_ZONE_LABELS = ("gpufleet.dev/zone-id", "topology.k8s.aws/zone-id", "topology.kubernetes.io/zone")

Node = Mapping[str, Any]


def check_nodes(pool: PoolInfo, wanted: int, nodes: Sequence[Node]) -> list[CheckResult]:
    """Every check of a pool's nodes, in the order in which they have to be mended."""
    ready = [node for node in nodes if is_ready(node)]
    checks = [_ready(pool, wanted, nodes, ready)]
    if not ready:
        return checks
    zone, together = largest_zone(ready)
    checks.append(_together(pool, wanted, zone, together))
    checks.append(_placed(together))
    checks.append(_devices(pool, "GPUs", GPU, pool.gpus, together, "the NVIDIA device plugin and the node's driver"))
    if pool.efa:
        checks.append(_devices(pool, "EFA", EFA, pool.efa, together, "the EFA device plugin"))
    return checks


def is_ready(node: Node) -> bool:
    """Ready, and pods may come."""
    conditions = (node.get("status") or {}).get("conditions") or []
    ready = any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
    return ready and not (node.get("spec") or {}).get("unschedulable")


def largest_zone(nodes: Sequence[Node]) -> tuple[str | None, list[Node]]:
    """The zone with most nodes, and these. Zone ids where nodes carry them, else names; None: unknown."""
    zones = Counter(node_zone(node) for node in nodes)
    zone = max(zones, key=lambda each: (zones[each], each is not None, str(each)))
    return zone, [node for node in nodes if node_zone(node) == zone]


def node_zone(node: Node) -> str | None:
    labels = node["metadata"].get("labels") or {}
    return next((labels[label] for label in _ZONE_LABELS if labels.get(label)), None)


def is_fake(node: Node) -> bool:
    return FAKE_NODE_ANNOTATION in (node["metadata"].get("annotations") or {})


def _ready(pool: PoolInfo, wanted: int, nodes: Sequence[Node], ready: Sequence[Node]) -> CheckResult:
    found = f"{len(ready)} of {wanted} nodes of pool {pool.name} are Ready"
    if len(ready) >= wanted:
        return passed_check("nodes", found)
    if pool.max is not None and pool.max < wanted:
        return failed_check("nodes", f"{found}, and it has at most {pool.max}", "raise its max and run `pulumi up`")
    waiting = [node["metadata"]["name"] for node in nodes if not is_ready(node)]
    if waiting:
        return failed_check(
            "nodes", f"{found}; not ready: {format_name_ranges(waiting)}", "see `kubectl describe node`"
        )
    return failed_check("nodes", found, "submit a job that makes it grow, or keep nodes running: raise the pool's min")


def _together(pool: PoolInfo, wanted: int, zone: str | None, together: Sequence[Node]) -> CheckResult:
    if zone is None:
        return unknown_check("zone", "no node tells its zone", "label the nodes with topology.kubernetes.io/zone")
    found = f"{len(together)} of {wanted} Ready nodes are in {zone}"
    if len(together) >= wanted:
        return passed_check("zone", found)
    return failed_check("zone", found, f"give pool {pool.name} one zone")


def _placed(nodes: Sequence[Node]) -> CheckResult:
    words = {(node["metadata"].get("labels") or {}).get("gpufleet.dev/placement") for node in nodes}
    if words <= {"create", "existing"}:
        return passed_check("placement", "the nodes are of a pool with one placement group")
    if words == {"none"}:
        return unknown_check(
            "placement", "the pool has no placement group", "set placement: create where the network counts"
        )
    return unknown_check(
        "placement", "the nodes do not tell whether they are in one group", "look in the cloud's console"
    )


def _devices(
    pool: PoolInfo, subject: str, resource: str, each: int | None, nodes: Sequence[Node], who: str
) -> CheckResult:
    counts = {node["metadata"]["name"]: _allocatable(node, resource) for node in nodes}
    if each is None:
        least = min(counts.values())
        has = f"{least} or more on each node; how many {', '.join(pool.types)} has is not in the catalog"
        return unknown_check(subject, has, "compare with the vendor's figure") if least else _none(subject, counts, who)
    short = {name: count for name, count in counts.items() if count < each}
    if not short:
        return passed_check(subject, f"{each} allocatable on each of {len(nodes)} nodes")
    if not any(counts.values()):
        return _none(subject, counts, who)
    has = ", ".join(f"{name} has {count}" for name, count in sorted(short.items())[:4])
    more = f" and {len(short) - 4} more nodes" if len(short) > 4 else ""
    return failed_check(
        subject, f"of {each} on each node, {has}{more}", f"look at {who} there; replace the node if one is broken"
    )


def _none(subject: str, counts: Mapping[str, int], who: str) -> CheckResult:
    return failed_check(subject, f"none allocatable on {format_name_ranges(counts)}", f"look at {who}")


def _allocatable(node: Node, resource: str) -> int:
    count = ((node.get("status") or {}).get("allocatable") or {}).get(resource) or "0"
    return int(count) if str(count).isdigit() else 0
