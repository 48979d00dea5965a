"""The result of `gpufleet reap`: as lines, as JSON data, and for a webhook."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.reap_plan import ReapDecision, ReapVerdict
from gpufleet.rules.messages import plural

SCHEMA = 1
"""Version of the format; it changes when a field is removed or changes its meaning."""
_TOLD = (
    ReapVerdict.FAILED,
    ReapVerdict.UNREAD,
    ReapVerdict.LOCKED,
    ReapVerdict.DESTROYED,
    ReapVerdict.DUE,
    ReapVerdict.BUSY,
    ReapVerdict.UNCERTAIN,
    ReapVerdict.FOREIGN,
    ReapVerdict.SPARED,
    ReapVerdict.GRACE,
)
"""Verdicts that are worth a line, the most urgent first."""


def reportable(cases: Sequence[ReapDecision]) -> list[ReapDecision]:
    """Those that are past their end or not certain, or cannot be read; the most urgent first, in their order."""
    return sorted((case for case in cases if case.verdict in _TOLD), key=lambda case: _TOLD.index(case.verdict))


def reap_head(cases: Sequence[ReapDecision]) -> str:
    """How many there are."""
    return f"{plural(len(cases), 'stack')}, {len(reportable(cases))} past their end or not certain"


def reap_line(case: ReapDecision, now: datetime) -> str:
    """One environment in words."""
    each = case.environment
    if case.verdict is ReapVerdict.UNREAD:
        return f"not read: {each.name}"
    numbers = f"{each.ending} resources, and {each.resources - each.ending} kept"
    words = {
        ReapVerdict.STAYS: "stays, as it is not past its end any more",
        ReapVerdict.GRACE: f"to be destroyed from {case.until:%Y-%m-%d %H:%M} UTC on" if case.until else "",
        ReapVerdict.FOREIGN: f"not certainly gpufleet's, and not touched: {case.why}",
        ReapVerdict.UNCERTAIN: f"not touched: {case.why}",
        ReapVerdict.DUE: f"would be destroyed: {numbers}",
        ReapVerdict.BUSY: f"due, but an update of it is running{f': {case.why}' if case.why else ''}",
        ReapVerdict.LOCKED: f"due, but {case.why}",
        ReapVerdict.SPARED: f"due, but spared: {case.why}",
        ReapVerdict.DESTROYED: f"destroyed: {numbers}",
        ReapVerdict.FAILED: f"not destroyed: {case.why}",
    }[case.verdict]
    cost = f"${each.costs['floor'].hour:,.2f}/h at the least" if each.costs else "price not known"
    return f"{each.name}, of {each.owner or 'nobody'}, {_end(each, now)}, {cost}: {words}"


def _end(each: EnvironmentSummary, now: datetime) -> str:
    if each.end is None:
        return "without an end that can be read"
    return f"{each.end.distance(now)} {'past' if each.end.past(now) else 'before'} its end"


def reap_to_dict(backend: str, cases: Sequence[ReapDecision], now: datetime) -> dict[str, Any]:
    """Everything as data, and `text`, as chat services show it."""
    return {
        "schema": SCHEMA,
        "text": "\n".join(_words(cases, now)),
        "backend": backend,
        "now": now.isoformat(timespec="seconds"),
        "environments": [_case(case) for case in cases],
    }


def _words(cases: Sequence[ReapDecision], now: datetime) -> Iterator[str]:
    told = reportable(cases)
    yield f"gpufleet reap: {reap_head(cases)}"
    yield from (reap_line(case, now) for case in told)


def _case(case: ReapDecision) -> dict[str, Any]:
    each = case.environment
    return {
        "stack": each.stack,
        "project": each.project or None,
        "owner": each.owner,
        "stack_mark": each.ownership.stack,
        "purpose": each.purpose,
        "verdict": case.verdict.value,
        "ends": each.end.moment.isoformat(timespec="seconds") if each.end else None,
        "grace_ends": case.until.isoformat(timespec="seconds") if case.until else None,
        "resources": {"end": each.ending, "kept": each.resources - each.ending},
        "why": case.why or None,
    }
