"""Nodes and tasks of a played Batch account over simulated time."""

from datetime import datetime
from typing import Any

import pytest

from gpufleet.azure.autoscale_formula import autoscale_formula
from gpufleet_rehearsal.azure_batch.played_nodes import NODE_SECONDS, PlayedBatch
from gpufleet_rehearsal.played_jobs import EXIT_CODE, RUN_SECONDS

OUTPUT = {
    "filePattern": "../stdout.txt",
    "destination": {"container": {"containerUrl": "https://files.invalid/result", "path": "jobs/train/stdout.txt"}},
    "uploadOptions": {"uploadCondition": "taskcompletion"},
}


@pytest.fixture
def batch() -> PlayedBatch:
    """Pools of 8 cores a node: `scaled` by our formula from 0 to 4 Spot nodes, `fixed` with none."""
    made = PlayedBatch(cores=lambda size: 8)
    formula = autoscale_formula(min=0, max=4, spot=True, task_nodes=2)
    made.add_pool("scaled", enableAutoScale=True, autoScaleFormula=formula)
    made.add_pool("fixed")
    made.advance(1800)
    return made


def submit(batch: PlayedBatch, pool: str, nodes: int = 1, retries: int = 0, ends: str | None = None) -> dict[str, Any]:
    metadata = [{"name": EXIT_CODE, "value": ends}] if ends else []
    batch.add_job({"id": "train", "poolInfo": {"poolId": pool}, "metadata": metadata})
    many = {"multiInstanceSettings": {"numberOfInstances": nodes, "coordinationCommandLine": "true"}}
    task = {"id": "main", "outputFiles": [OUTPUT], "constraints": {"maxTaskRetryCount": retries}}
    batch.add_task("train", {**task, **(many if nodes > 1 else {})})
    batch.change_job("train", {"onAllTasksComplete": "terminatejob"})
    return batch.tasks["train"]


def resize(batch: PlayedBatch, nodes: int) -> dict[str, Any]:
    batch.resize("fixed", {"targetDedicatedNodes": nodes, "targetLowPriorityNodes": 0})
    return batch.pools["fixed"]


def play_until(batch: PlayedBatch, task: dict[str, Any], state: str) -> None:
    """Periods of 30 s, until a task has a state."""
    end = batch.at + 3600
    while task["state"] != state:
        assert batch.at < end, task
        batch.advance(batch.at + 30)


def test_formula_brings_nodes_for_a_job_and_takes_them_away(batch: PlayedBatch) -> None:
    copied: list[tuple[str, str, bytes]] = []
    batch.copy = lambda *each: copied.append(each)
    task = submit(batch, "scaled", nodes=2)
    batch.advance(batch.at + NODE_SECONDS)
    assert (task["state"], batch.pools["scaled"]["allocationState"]) == ("active", "resizing")
    play_until(batch, task, "running")
    assert len(batch.nodes["scaled"]) == 2
    assert {node["state"] for node in batch.nodes["scaled"]} == {"running"}
    batch.advance(batch.at + 60)
    assert (task["state"], task["executionInfo"]["exitCode"], batch.jobs["train"]["state"]) == (
        "completed",
        0,
        "completed",
    )
    line = b"rehearsed: no container ran; no image on 2 nodes of scaled\n"
    assert copied == [("https://files.invalid/result", "jobs/train/stdout.txt", line)]
    batch.advance(batch.at + 2400)
    assert batch.nodes["scaled"] == []


def test_nodes_go_when_their_tasks_have_ended(batch: PlayedBatch) -> None:
    pool = resize(batch, 2)
    batch.advance(batch.at + NODE_SECONDS + 60)
    assert (pool["allocationState"], pool["currentDedicatedNodes"]) == ("steady", 2)
    submit(batch, "fixed", ends="none")
    batch.advance(batch.at + 60)
    resize(batch, 0)
    batch.advance(batch.at + 3600)
    assert (pool["allocationState"], pool["currentDedicatedNodes"]) == ("resizing", 1)
    batch.terminate_job("train", None)
    batch.advance(batch.at + 60)
    assert (pool["allocationState"], pool["currentDedicatedNodes"]) == ("steady", 0)


@pytest.mark.parametrize(
    ("limit", "capacity", "code"),
    [(15, True, "AccountCoreQuotaReached"), (16, True, None), (None, False, "AllocationFailed")],
)
def test_nodes_that_do_not_come(batch: PlayedBatch, limit: int | None, capacity: bool, code: str | None) -> None:
    batch.quota, batch.has_capacity = lambda kind: limit, lambda size: capacity
    pool = resize(batch, 2)
    batch.advance(batch.at + NODE_SECONDS + 60)
    assert pool["allocationState"] == "steady"
    assert [each["code"] for each in pool.get("resizeErrors", [])] == ([code] if code else [])
    assert pool["currentDedicatedNodes"] == (0 if code else 2)


def test_exit_code_and_tries(batch: PlayedBatch) -> None:
    resize(batch, 1)
    task = submit(batch, "fixed", retries=1, ends="3")
    play_until(batch, task, "running")
    assert task["executionInfo"]["retryCount"] == 0
    batch.advance(batch.at + 60)
    assert (task["state"], task["executionInfo"]["retryCount"]) == ("running", 1)
    batch.advance(batch.at + 60)
    assert (task["state"], task["executionInfo"]["exitCode"]) == ("completed", 3)
    # However little of it this machine has waited: GPU-hours are counted by these times.
    begun, ended = (datetime.fromisoformat(task["executionInfo"][each]) for each in ("startTime", "endTime"))
    assert RUN_SECONDS <= (ended - begun).total_seconds() < RUN_SECONDS + 60
    assert batch.nodes["fixed"][0]["state"] == "idle"


def test_job_of_several_nodes_wants_nodes_that_talk(batch: PlayedBatch) -> None:
    batch.pools["fixed"]["enableInterNodeCommunication"] = False
    resize(batch, 2)
    task = submit(batch, "fixed", nodes=2)
    batch.advance(batch.at + 3600)
    assert task["state"] == "active"


def test_long_time_passes_at_once_and_the_formula_goes_on(batch: PlayedBatch) -> None:
    batch.advance(batch.at + 30 * 86400)
    task = submit(batch, "scaled", nodes=2)
    batch.advance(batch.at + 1200)
    assert task["state"] == "completed"
