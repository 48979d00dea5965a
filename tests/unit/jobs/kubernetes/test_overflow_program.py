"""What moves a job from pool to pool, change by change. tests/cluster/test_overflow.py has it on a control plane."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from gpufleet.jobs.kubernetes.overflow_program import GIVEN_UP, RECORD, STEPS, next_change
from gpufleet.jobs.kubernetes.step_states import step_lines, step_states

ROW = {"zone": "use1-az1", "market": "spot", "nodes": 2, "usd_per_hour": 5.5, "seconds": 60}
PLANNED = [
    {**ROW, "pool": "spot-a", "patch": {}},
    {**ROW, "pool": "spot-b", "patch": {"Worker": {"template": {"spec": {"nodeSelector": {"pool": "spot-b"}}}}}},
]
SINCE = "2026-11-28T05:00:00Z"
GIVEN = {"pool": "spot-a", "since": SINCE, "until": "2026-11-28T05:01:00Z", "quota": True, "placed": 1, "message": "no"}
SECOND = {"pool": "spot-b", "since": "2026-11-28T05:01:10Z"}


def at(minute: int, second: int = 0) -> datetime:
    return datetime(2026, 11, 28, 5, minute, second, tzinfo=UTC)


def job(*record: dict[str, Any], suspend: bool = False, pool: str = "spot-a", ended: str = "") -> dict[str, Any]:
    annotations = {STEPS: json.dumps(PLANNED)} | ({RECORD: json.dumps(record)} if record else {})
    worker = {"replicas": 2, "template": {"spec": {"nodeSelector": {"pool": pool}}}}
    return {
        "metadata": {"resourceVersion": "7", "creationTimestamp": SINCE, "annotations": annotations},
        "spec": {"runPolicy": {"suspend": suspend}, "mpiReplicaSpecs": {"Worker": worker}},
        "status": {"conditions": [{"type": ended, "status": "True"}] if ended else []},
    }


def workload(*, active: bool = True, quota: bool = True, pool: str = "spot-a", given_up: str = "") -> dict[str, Any]:
    reserved = {"type": "QuotaReserved", "status": str(quota), "message": "all is used"}
    sets = [{"name": "worker", "template": {"spec": {"nodeSelector": {"pool": pool}}}}]
    about = {"name": "w", "annotations": {GIVEN_UP: given_up} if given_up else {}}
    return {"metadata": about, "spec": {"active": active, "podSets": sets}, "status": {"conditions": [reserved]}}


def pod(node: str = "") -> dict[str, Any]:
    said = [] if node else [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"}]
    return {"spec": {"nodeName": node}, "status": {"conditions": said}}


def launcher(created: str) -> dict[str, Any]:
    return {"metadata": {"name": "first-launcher", "creationTimestamp": created}}


def record_of(change: Any) -> Any:
    assert change["metadata"]["resourceVersion"] == "7", "what was changed in between is not overwritten"
    return json.loads(change["metadata"]["annotations"][RECORD])


def test_a_step_is_given_up_when_its_time_is_over_with_the_schedulers_words() -> None:
    pods = [pod("node-1"), pod()]
    assert next_change(job(), workload(), pods, [], at(0, 59)) == ("", None)
    kind, change = next_change(job(), workload(), pods, [], at(1))
    assert kind == "job"
    why = {"quota": True, "placed": 1, "message": "0/3 nodes are available"}
    assert record_of(change) == [{"pool": "spot-a", "since": SINCE, "until": "2026-11-28T05:01:00Z", **why}]


def test_without_quota_it_is_kueues_words() -> None:
    _, change = next_change(job(suspend=True), workload(quota=False), [], [], at(1))
    [given] = record_of(change)
    assert (given["quota"], given["placed"], given["message"]) == (False, 0, "all is used")


def test_a_step_is_complete_when_all_workers_have_nodes_even_late() -> None:
    for record in ([], [GIVEN]):
        kind, change = next_change(job(*record), workload(), [pod("a"), pod("b")], [], at(2))
        assert kind == "job"
        assert record_of(change) == [{"pool": "spot-a", "since": SINCE, "complete": "2026-11-28T05:02:00Z"}]


def test_the_last_step_waits() -> None:
    assert next_change(job(GIVEN, SECOND, pool="spot-b"), workload(pool="spot-b"), [], [], at(59)) == ("", None)


def test_the_move_waits_until_kueue_has_stopped_the_job() -> None:
    kind, change = next_change(job(GIVEN), workload(), [pod()], [], at(1, 1))
    assert (kind, change["spec"], change["metadata"]["annotations"]) == ("workload", {"active": False}, {GIVEN_UP: "0"})
    inactive = workload(active=False, quota=False, given_up="0")
    assert next_change(job(GIVEN), inactive, [], [], at(1, 1)) == ("", None), "is not suspended yet"
    assert next_change(job(GIVEN, suspend=True), inactive, [pod()], [], at(1, 1)) == ("", None), "has a pod"
    held = workload(active=False, given_up="0")
    assert next_change(job(GIVEN, suspend=True), held, [], [], at(1, 1)) == ("", None), "holds quota"
    kind, change = next_change(job(GIVEN, suspend=True), inactive, [], [], at(1, 10))
    assert (kind, record_of(change)) == ("job", [GIVEN, SECOND])
    assert change["spec"] == {"mpiReplicaSpecs": PLANNED[1]["patch"]}


def test_the_workload_is_activated_once_kueue_has_copied_the_pool_and_the_old_launcher_is_gone() -> None:
    moved = job(GIVEN, SECOND, suspend=True, pool="spot-b")
    stale = workload(active=False, quota=False, given_up="0")
    assert next_change(moved, stale, [], [], at(1, 11)) == ("", None)
    copied = workload(active=False, quota=False, given_up="0", pool="spot-b")
    assert next_change(moved, copied, [], [launcher(SINCE)], at(1, 11)) == ("launcher", "first-launcher")
    fresh = [launcher("2026-11-28T05:01:10Z")]
    assert next_change(moved, copied, [], fresh, at(1, 11)) == ("workload", {"spec": {"active": True}})


@pytest.mark.parametrize(
    ("about", "held"),
    [
        (job(ended="Succeeded"), workload()),
        (job(ended="Failed"), workload()),
        (job({"pool": "spot-a", "since": SINCE, "complete": SINCE}), workload()),
        # A person stopped it.
        (job(), workload(active=False)),
        (job(), None),
    ],
)
def test_others_are_left_alone(about: dict[str, Any], held: dict[str, Any] | None) -> None:
    assert next_change(about, held, [], [], at(59)) == ("", None)


def test_status_shows_each_step() -> None:
    price = "zone use1-az1, spot, 2 nodes, up to 5.50 USD an hour"
    assert step_lines(step_states(job())) == [
        f"step 1: pool spot-a, {price}, at most 1 min: tried since {SINCE}, at most until 2026-11-28T05:01:00Z",
        f"step 2: pool spot-b, {price}, until capacity comes: next",
    ]
    complete = {**SECOND, "complete": "2026-11-28T05:03:10Z"}
    assert step_lines(step_states(job(GIVEN, complete))) == [
        f"step 1: pool spot-a, {price}, at most 1 min: given up after 1 min: 1 of 2 workers got a node: no",
        f"step 2: pool spot-b, {price}, until capacity comes: complete after 2 min, at 2026-11-28T05:03:10Z",
    ]
    [_, waits] = step_lines(step_states(job(GIVEN, SECOND)))
    assert waits.endswith(f"until capacity comes: tried since {SECOND['since']}")


def test_status_without_quota() -> None:
    given = {
        **GIVEN,
        "quota": False,
        "message": "insufficient unused quota for nvidia.com/gpu in flavor a, 4 more needed",
    }
    [first, _] = step_lines(step_states(job(given, SECOND)))
    assert first.endswith(
        "given up after 1 min: no quota: insufficient unused quota for nvidia.com/gpu in flavor a, 4 more needed"
    )


def test_status_of_a_job_without_steps_or_with_broken_ones_has_none() -> None:
    assert step_states({"metadata": {"name": "a"}}) == []
    assert step_states({"metadata": {"annotations": {STEPS: "[{"}}}) == []
