"""What to do about nodes and their faults. Pure: the nodes as they are now, what was found, and decisions out.

The record of a bad node is an annotation of it, so it outlives this program. A node that somebody else cordoned is left
so; one that somebody uncordons is not cordoned again for the same faults; after a reboot without faults, a node that
was cordoned here is let in again.
"""

import json
import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .gpu_faults import NodeFault
from .node_faults import first_fix, pool_of

UNHEALTHY = "gpufleet.dev/unhealthy"
"""Annotation of a bad node: JSON with since, faults (keys), reason, fix, cordoned, cordoned_at, held, boot, accepted.

held: why it is not cordoned. accepted: faults with which somebody has let it in again."""


@dataclass(frozen=True)
class NodeDecision:
    """patch: a merge patch of the node. word: cordon, record, accept, release or forget."""

    node: str
    word: str
    line: str
    patch: Mapping[str, Any]


def record_of(node: Mapping[str, Any]) -> dict[str, Any] | None:
    """What was written on a node here; None where nothing was, or somebody wrote something else."""
    text = (node["metadata"].get("annotations") or {}).get(UNHEALTHY)
    if text is None:
        return None
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not all(_is_names(record.get(each, [])) for each in ("faults", "accepted")):
        return None
    return record


def _is_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def most_of(nodes: int, percent: int) -> int:
    """How many of a pool's nodes may be cordoned: one always, and that share."""
    return max(1, math.floor(nodes * percent / 100))


def work_ends_before(node: Mapping[str, Any], faults: Sequence[NodeFault]) -> datetime | None:
    """The moment of a cordon, where what ran on the node's GPUs by then has to end. What somebody has put there since,
    to look at the node, stays. None: all may stay."""
    record = record_of(node) or {}
    keys = {fault.key for fault in faults if fault.ends_work} - {*record.get("accepted", [])}
    if not keys or not record.get("cordoned") or not _closed(node):
        return None
    try:
        return datetime.fromisoformat(record["cordoned_at"])
    except (KeyError, TypeError, ValueError):
        return None


def decide(
    nodes: Sequence[Mapping[str, Any]],
    found: Mapping[str, Sequence[NodeFault]],
    now: datetime,
    percent: int,
    silent: Collection[str] = (),
) -> Iterator[NodeDecision]:
    """found: by node, the faults that have lasted. silent: nodes whose exporter does not answer: nothing that was found
    there earlier is taken back."""
    sizes = Counter(pool_of(node) for node in nodes)
    cordoned = Counter(pool_of(node) for node in nodes if (record_of(node) or {}).get("cordoned") and _closed(node))
    for node in sorted(nodes, key=lambda each: str(each["metadata"]["name"])):
        name, pool = node["metadata"]["name"], pool_of(node)
        most = most_of(sizes[pool], percent)
        bound = "" if cordoned[pool] < most else f"{most} of {sizes[pool]} nodes of {pool}"
        decision = _decision(node, found.get(name, ()), now, bound, name in silent)
        if decision:
            cordoned[pool] += {"cordon": 1, "release": -1}.get(decision.word, 0)
            yield decision


def _decision(
    node: Mapping[str, Any], faults: Sequence[NodeFault], now: datetime, bound: str, silent: bool
) -> NodeDecision | None:
    """bound: what keeps the node from being cordoned, empty if nothing does."""
    name, record = node["metadata"]["name"], record_of(node) or {}
    boot = node.get("status", {}).get("nodeInfo", {}).get("bootID", "")
    if record.get("cordoned") and not _closed(node):
        # Somebody has let it in again, and knows these faults.
        accepted = sorted({*record.get("accepted", []), *record.get("faults", [])})
        return _patched(name, "accept", f"uncordoned by somebody with {', '.join(accepted)}", {"accepted": accepted})
    there = {fault.key for fault in faults}
    accepted = [each for each in record.get("accepted", []) if silent or each in there]
    new = [fault for fault in faults if fault.key not in accepted]
    if not new and silent:
        return None
    if not new:
        return _without_faults(name, record, accepted, rebooted=bool(boot) and boot != record.get("boot"))
    keys = [fault.key for fault in new]
    if keys == record.get("faults") and (record.get("cordoned") or _closed(node) or bound):
        return None
    ours = bool(record.get("cordoned")) or not (_closed(node) or bound)
    written = {
        "since": record.get("since") or now.isoformat(timespec="seconds"),
        "faults": keys,
        "reason": "; ".join(fault.line for fault in new),
        "fix": first_fix(new),
        "cordoned": ours,
        **({"cordoned_at": record.get("cordoned_at") or now.isoformat(timespec="seconds")} if ours else {}),
        "boot": boot,
        **({} if ours or _closed(node) else {"held": f"not cordoned: already {bound} are"}),
        **({"accepted": accepted} if accepted else {}),
    }
    if ours and not _closed(node):
        return _patched(name, "cordon", written["reason"], written, {"unschedulable": True})
    line = written["reason"] + (f" ({written['held']})" if "held" in written else "")
    return _patched(name, "record", line, written)


def _without_faults(
    name: str, record: Mapping[str, Any], accepted: Sequence[str], *, rebooted: bool
) -> NodeDecision | None:
    if record.get("cordoned"):
        if not rebooted:
            # A counter that starts at zero with the exporter does not repair anything.
            return None
        return _patched(name, "release", "rebooted, and nothing is wrong any more", None, {"unschedulable": False})
    if record.get("faults") or sorted(record.get("accepted", [])) != sorted(accepted):
        kept = {"accepted": list(accepted)} if accepted else None
        return _patched(name, "forget", "its faults are gone", kept)
    return None


def _patched(
    name: str,
    word: str,
    line: str,
    record: Mapping[str, Any] | None,
    spec: Mapping[str, Any] | None = None,
) -> NodeDecision:
    text = None if record is None else json.dumps(record, sort_keys=True)
    patch = {"metadata": {"annotations": {UNHEALTHY: text}}, **({"spec": spec} if spec else {})}
    return NodeDecision(name, word, line, patch)


def _closed(node: Mapping[str, Any]) -> bool:
    return bool(node.get("spec", {}).get("unschedulable"))
