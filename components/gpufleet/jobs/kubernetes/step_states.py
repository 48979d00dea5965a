"""The steps of a job with pools in order: which is tried, since when, and which were given up and why.

All of it stands in two annotations of the job: what `gpufleet jobs submit` planned, and what happened since, with
Kueue's and the scheduler's own words (overflow_program.py).
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NotRequired, TypedDict

from gpufleet.documents.json import parse_json
from gpufleet.durations import format_duration
from gpufleet.errors import UserError
from gpufleet.jobs.kubernetes.kueue_reasons import kueue_reason_text
from gpufleet.jobs.kubernetes.overflow_program import RECORD, STEPS
from gpufleet.jobs.kubernetes.pool_steps import PoolStep
from gpufleet.jobs.kubernetes.status import worker_count
from gpufleet.rules.messages import one_line


class PlannedStep(TypedDict):
    """A step as the annotation has it, without the patch that leads to it."""

    pool: str
    zone: str
    market: str
    nodes: int
    usd_per_hour: float | None
    seconds: float


class TriedStep(TypedDict):
    """What happened to a step. quota: whether Kueue gave it quota; placed: workers that got a node."""

    pool: str
    since: str
    until: NotRequired[str]
    complete: NotRequired[str]
    quota: NotRequired[bool]
    placed: NotRequired[int]
    message: NotRequired[str]


def step_states(job: Mapping[str, Any]) -> list[dict[str, object]]:
    """The steps of a MPIJob in JSON's types, in order; none where it has none, or they cannot be read.

    state: given up, tried, complete or next. Times are RFC 3339.
    """
    about = job["metadata"]
    annotations = about.get("annotations") or {}
    if STEPS not in annotations:
        return []
    try:
        planned = parse_json(annotations[STEPS], STEPS, shape=list[PlannedStep])
        tried = parse_json(annotations.get(RECORD, "[]"), RECORD, shape=list[TriedStep])
    except UserError:
        return []
    if planned and not tried:
        tried = [{"pool": planned[0]["pool"], "since": str(about.get("creationTimestamp") or "")}]
    rows: list[dict[str, object]] = []
    for number, step in enumerate(planned):
        happened: Mapping[str, object] = tried[number] if number < len(tried) else {}
        row = {
            "pool": step["pool"],
            "zone": step["zone"],
            "market": step["market"],
            "nodes": step["nodes"],
            "usdPerHour": step["usd_per_hour"],
            "limitSeconds": None if number + 1 == len(planned) else step["seconds"],
            "state": _state(happened),
        }
        times = {key: happened[key] for key in ("since", "until", "complete") if key in happened}
        why = {"why": _why(tried[number], worker_count(job))} if "until" in happened else {}
        rows.append(row | times | why)
    return rows


def step_lines(steps: object) -> list[str]:
    """The same as lines for a person."""
    assert isinstance(steps, list)
    return [_line(number, row) for number, row in enumerate(steps, 1)]


def _line(number: int, row: Mapping[str, Any]) -> str:
    limit = row["limitSeconds"]
    step = PoolStep(row["pool"], row["zone"], row["market"], row["nodes"], row["usdPerHour"], limit or 0)
    text = f"{step.line(number, last=limit is None)}: {row['state']}"
    if row["state"] == "given up":
        return f"{text} after {_span(row['since'], row['until'])}: {row['why']}"
    if row["state"] == "complete":
        return f"{text} after {_span(row['since'], row['complete'])}, at {row['complete']}"
    if row["state"] == "tried":
        return f"{text} since {row['since']}" + (f", at most until {_later(row['since'], limit)}" if limit else "")
    return text


def _state(happened: Mapping[str, object]) -> str:
    if not happened:
        return "next"
    return "complete" if "complete" in happened else "given up" if "until" in happened else "tried"


def _why(step: TriedStep, workers: int) -> str:
    # What the scheduler says behind this is of preemption, which is of no use to anybody who waits for nodes.
    said = one_line(kueue_reason_text(step.get("message", "").partition(". no new claims")[0]))
    what = f"{step.get('placed', 0)} of {workers} workers got a node" if step.get("quota") else "no quota"
    return f"{what}: {said}" if said else what


def _span(since: str, until: str) -> str:
    try:
        seconds = (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
    except (TypeError, ValueError):
        return "a time that is not known"
    return format_duration(max(0.0, seconds))


def _later(since: str, seconds: float) -> str:
    try:
        return f"{datetime.fromisoformat(since) + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"
    except (OverflowError, ValueError):
        return "a time that is not known"
