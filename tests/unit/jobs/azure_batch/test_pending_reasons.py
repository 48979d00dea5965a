"""Why a job on Azure Batch waits, from what its pool and nodes say."""

from typing import Any

import pytest

from tests.tools.batch_account import FakeBatch

SPOT = {"targetLowPriorityNodes": 2, "currentLowPriorityNodes": 2}


def waiting(here: FakeBatch, run: Any, *options: str) -> list[str]:
    name = ("--name", "train", "--image", "training:base")
    done = run("jobs", "submit", "dev", *name, *options, "--", "python3", "train.py")
    assert done.exit_code == 0, done.output
    lines = run("jobs", "status", "dev", "train").stdout.splitlines()
    assert lines[0] == "train: active"
    return [line.strip() for line in lines[1:] if not line.startswith("  outputs:")]


POOLS = [
    ({"state": "deleting"}, ["its pool spot is being deleted"]),
    (
        {"allocationState": "resizing", "targetLowPriorityNodes": 2, "currentLowPriorityNodes": 1},
        ["pool spot is resizing: 1 of 2 nodes are there"],
    ),
    (
        {"enableAutoScale": False},
        ["pool spot is at 0 nodes, and the job needs 2; `gpufleet pool resize dev spot 2`"],
    ),
    (
        {"autoScaleRun": {"timestamp": "2026-11-21T12:00:00Z", "error": {"code": "X", "message": "Bad.\nWords."}}},
        [
            "its autoscale formula fails: X: Bad. Words.; `gpufleet pool autoscale` sets another",
            "pool spot is at 0 nodes, and the job needs 2: its formula looks every few minutes, last at "
            "2026-11-21T12:00:00Z",
        ],
    ),
    (
        {"targetLowPriorityNodes": 2, "resizeErrors": [{"code": "AllocationFailed", "message": "No capacity."}]},
        [
            "Azure has no such nodes free just now: AllocationFailed: No capacity.; ask again later with `gpufleet "
            "pool resize dev spot N`, or use another size or region"
        ],
    ),
    (
        {
            "targetLowPriorityNodes": 2,
            "resizeErrors": [{"code": "AccountVMSeriesCoreQuotaReached", "message": "Full."}],
        },
        [
            "quota of the size's family is used up: AccountVMSeriesCoreQuotaReached: Full.; raise it (the Batch "
            "account's Quotas), or use fewer nodes"
        ],
    ),
    (
        {"targetLowPriorityNodes": 2, "resizeErrors": [{"code": "ResizeStopped", "message": "Stopped."}]},
        ["pool spot could not be resized: ResizeStopped: Stopped."],
    ),
    (
        {"targetLowPriorityNodes": 2, "currentLowPriorityNodes": 1},
        ["pool spot has 1 of 2 nodes, and the job needs 2; `gpufleet pool resize dev spot 2` asks for them again"],
    ),
    (SPOT, ["all 2 nodes of pool spot are starting or busy; the job starts when 2 of them are free"]),
    (
        {**SPOT, "enableInterNodeCommunication": False},
        ["nodes of pool spot do not talk to each other: a job of 2 nodes never starts there; use another"],
    ),
]


@pytest.mark.parametrize(("pool", "lines"), POOLS, ids=lambda each: str(each)[:40])
def test_pool(here: FakeBatch, run: Any, pool: dict[str, Any], lines: list[str]) -> None:
    here.steady_after = 1000
    here.pools["spot-1"] |= pool
    assert waiting(here, run, "--pool", "spot", "--nodes", "2") == lines


MOUNT = {
    "code": "MountConfigurationError",
    "message": "Mounting failed.",
    "errorDetails": [{"name": "a", "value": "b"}],
}
NODES = [
    (
        {"state": "unusable", "errors": [MOUNT]},
        "node n is unusable (MountConfigurationError: Mounting failed. (a: b)); if it is a mount, look at the storage "
        "account's network and the identity's rights, then reboot it",
    ),
    (
        {"state": "starttaskfailed", "startTaskInfo": {"state": "completed", "retryCount": 0, "exitCode": 7}},
        "node n: its start task failed with code 7; see startup/stderr.txt there, fix start_command",
    ),
    ({"state": "offline"}, "node n is offline"),
    ({"state": "preempted"}, "1 Spot nodes were taken by Azure; others come when there is capacity"),
]


@pytest.mark.parametrize(("node", "line"), NODES, ids=lambda each: str(each)[:40])
def test_node(here: FakeBatch, run: Any, node: dict[str, Any], line: str) -> None:
    here.pools["spot-1"] |= SPOT
    here.add_node("spot-1", "n", **node)
    assert waiting(here, run, "--pool", "spot") == [line]


def test_many_nodes_with_faults(here: FakeBatch, run: Any) -> None:
    here.pools["spot-1"] |= SPOT
    for number in range(8):
        here.add_node("spot-1", f"n{number}", "unusable")
    lines = waiting(here, run, "--pool", "spot")
    assert len(lines) == 6
    assert lines[-1] == "3 more nodes have faults"


def test_pool_that_is_gone(here: FakeBatch, run: Any) -> None:
    here.add_pool("old")
    lines = waiting(here, run, "--pool", "spot")
    here.jobs["train"]["poolInfo"]["poolId"] = "none"
    lines = run("jobs", "status", "dev", "train").stdout.splitlines()
    assert lines[1].strip() == "its pool none no longer exists; `pulumi up` makes it, then submit the job again"
