"""What a node makes of Azure Batch's variables, and what it says when another is gone."""

import os
import queue
import socket
from pathlib import Path
from typing import Any

import pytest

from gpufleet.jobs.node_runtime import azure_context, azure_main, termination
from gpufleet.jobs.node_runtime.azure_context import (
    EVICTED,
    batch_number,
    job_exit_code,
    job_id,
    main_address,
    rank_hosts,
)
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Of three nodes; this one, with the loopback address, is listed second and the master node third."""
    for name, value in {
        "HOST_LIST": "192.0.2.1,127.0.0.1,192.0.2.3",
        "MASTER_NODE": "192.0.2.3:6000",
        "JOB_ID": "train",
        "TASK_ID": "digits",
    }.items():
        monkeypatch.setenv("AZ_BATCH_" + name, value)
    return monkeypatch


def test_a_node_finds_itself(task: pytest.MonkeyPatch):
    assert (batch_number("NODE_INDEX"), batch_number("MAIN_NODE_INDEX"), batch_number("NUM_NODES")) == (2, 0, 3)
    assert (main_address(), job_id()) == ("192.0.2.3", "train/digits")


def test_ranks_start_at_the_master_node(task: pytest.MonkeyPatch):
    assert rank_hosts("192.0.2.3", []) == ["192.0.2.3", "192.0.2.1", "127.0.0.1"]


def test_a_task_without_other_nodes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("AZ_BATCH_HOST_LIST", raising=False)
    assert (batch_number("NODE_INDEX"), batch_number("MAIN_NODE_INDEX"), batch_number("NUM_NODES")) == (0, 0, 0)
    assert rank_hosts("127.0.0.1", []) == ["127.0.0.1"]


def test_a_container_with_a_network_of_its_own(task: pytest.MonkeyPatch):
    task.setenv("AZ_BATCH_HOST_LIST", "192.0.2.1,192.0.2.3")
    with pytest.raises(NodeExit, match=r"^none of .* is here; run the container with --network host$"):
        batch_number("NODE_INDEX")


def test_variables_in_words(task: pytest.MonkeyPatch):
    assert azure_main.expand("$AZ_BATCH_JOB_ID/${AZ_BATCH_TASK_ID}s $HOME") == "train/digitss $HOME"
    with pytest.raises(NodeExit, match=r"^\$AZ_BATCH_NODE_X/a: Azure Batch sets no AZ_BATCH_NODE_X here"):
        azure_main.expand("$AZ_BATCH_NODE_X/a")
    task.setenv("GPUFLEET_OUTPUTS", "/mnt/result")
    assert azure_main.expand("$GPUFLEET_OUTPUTS/model $5") == "/mnt/result/model $5"
    assert azure_main.expand("${GPUFLEET_OUTPUTS") == "${GPUFLEET_OUTPUTS"


def test_folders_are_made_and_named_before_the_command_runs(task: pytest.MonkeyPatch, tmp_path: Path):
    task.setenv("AZ_BATCH_NODE_MOUNTS_DIR", str(tmp_path))
    task.delenv("AZ_BATCH_HOST_LIST", raising=False)
    task.setenv("GPUFLEET_OUTPUTS", "as it was")
    given: list[Any] = []
    task.setattr(azure_main, "remove_keys", lambda: None)
    task.setattr(azure_main, "run_main_node", lambda plan, command: given.append(command) or 0)
    folders = {"GPUFLEET_OUTPUTS": "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train"}
    plan = {"folders": folders, "command": ["x", "$GPUFLEET_OUTPUTS/model"], "directory": "", "slots": 1}
    plan |= {"logs": []}
    for _ in range(2):
        assert azure_main.apply(dict(plan)) == 0
    assert (tmp_path / "result" / "jobs" / "train").is_dir()
    assert given == [["x", f"{tmp_path}/result/jobs/train/model"]] * 2


def test_log_is_followed_while_the_command_runs(task: pytest.MonkeyPatch):
    task.setenv("AZ_BATCH_NODE_MOUNTS_DIR", "/mounts")
    task.delenv("AZ_BATCH_HOST_LIST", raising=False)
    followed: queue.Queue[tuple[str, float]] = queue.Queue()
    task.setattr(azure_main, "remove_keys", lambda: None)
    task.setattr(azure_main, "follow_log", lambda folder, seconds: followed.put((folder, seconds)))
    given: list[Any] = []
    task.setattr(azure_main, "run_main_node", lambda plan, command: given.append(followed.get(timeout=60)) or 0)
    plan = {"folders": {}, "command": ["x"], "directory": "", "slots": 1}
    copies = "$AZ_BATCH_NODE_MOUNTS_DIR/result/jobs/train/tries"
    assert azure_main.apply({**plan, "logs": [[copies, 60.0]]}) == 0
    assert given == [("/mounts/result/jobs/train/tries", 60.0)]


@pytest.fixture
def node() -> NodeConnection:
    with socket.create_server(("127.0.0.1", 0)) as door:
        link = NodeConnection(socket.create_connection(door.getsockname(), 5))
    link.index = 4
    link.sock.close()
    return link


@pytest.mark.parametrize("code", [0, 7])
def test_no_node_is_gone(code: int):
    assert job_exit_code(code, None, []) == code


def test_a_node_is_gone(node: NodeConnection, capsys: pytest.CaptureFixture[str]):
    assert job_exit_code(1, node, []) == EVICTED
    assert capsys.readouterr().err.startswith("gpufleet: node 4 (127.0.0.1) is gone, as a Spot node that is evicted: ")


def test_mpirun_noticed_first(
    node: NodeConnection, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Whether a node is there is asked at its sshd."""
    asked = []

    def refuse(address: tuple[str, int], timeout: float) -> socket.socket:
        asked.append((address, timeout))
        raise TimeoutError

    monkeypatch.setattr(azure_context.socket, "create_connection", refuse)
    assert job_exit_code(1, None, [node]) == EVICTED
    assert asked == [(("127.0.0.1", 2222), 5)]
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_ranks_that_succeeded_need_no_node(node: NodeConnection):
    assert job_exit_code(0, node, []) == 0


def test_a_task_that_was_ended_is_not_evicted(node: NodeConnection, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(azure_context, "signals_received", [15])
    assert termination.signals_received == []
    assert job_exit_code(143, node, [node]) == 143


def test_the_lock_is_the_users_own():
    assert str(os.getuid()) in azure_main.LOCK
