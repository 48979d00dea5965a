"""Bad nodes of a cluster, as the program of NodeHealth has recorded them in an annotation of each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from gpufleet.documents.json import parse_json
from gpufleet.errors import UserError
from gpufleet.fleet.stack_state import parse_time
from gpufleet.rules.messages import one_line

UNHEALTHY = "gpufleet.dev/unhealthy"
_MOST = 300
"""Characters of a reason: anyone who can patch nodes writes the annotation."""


class _Record(TypedDict, total=False):
    since: str
    faults: list[str]
    reason: str
    fix: str
    held: str


@dataclass(frozen=True)
class BadNode:
    """since: None if the record does not tell. cordoned: whether it takes no further pods. held:
    why it was not cordoned. fix: what to do."""

    name: str
    pool: str
    since: datetime | None
    reason: str
    fix: str
    cordoned: bool
    held: str = ""


def bad_nodes(nodes: Iterable[Mapping[str, Any]]) -> Iterator[BadNode]:
    """The nodes with a recorded fault, by name. A record that nobody can read is a fault that nobody knows."""
    for node in sorted(nodes, key=lambda each: str((each.get("metadata") or {}).get("name", ""))):
        meta = node.get("metadata") or {}
        text = (meta.get("annotations") or {}).get(UNHEALTHY)
        if text is None:
            continue
        record = _record(text)
        if not record.get("faults"):
            continue
        yield BadNode(
            str(meta["name"]),
            str((meta.get("labels") or {}).get("gpufleet.dev/pool", "")),
            parse_time(record.get("since")),
            one_line(record.get("reason", ""))[:_MOST],
            one_line(record.get("fix", ""))[:_MOST],
            bool((node.get("spec") or {}).get("unschedulable")),
            one_line(record.get("held", ""))[:_MOST],
        )


def _record(text: str) -> _Record:
    try:
        return parse_json(text, UNHEALTHY, shape=_Record)
    except UserError:
        fix = f"look at the node, and remove its annotation {UNHEALTHY}"
        return {"faults": ["unreadable"], "reason": f"its annotation {UNHEALTHY} is not readable", "fix": fix}
