"""Who the main node of a multi-node job lets in, and what it says of those who do not come."""

import socket
from collections.abc import Iterator

import pytest

from gpufleet.jobs.node_runtime import termination
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.main_node import interface_name
from gpufleet.jobs.node_runtime.process import NodeExit, find_program
from gpufleet.jobs.node_runtime.rendezvous import Rendezvous

KEY = "ssh-ed25519 AAAA gpufleet"


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rendezvous]:
    """Of three nodes with eight slots each; the main node is 0. A port that is free."""
    monkeypatch.setenv("AWS_BATCH_JOB_ID", "job#0")
    monkeypatch.setenv("AWS_BATCH_JOB_NODE_INDEX", "0")
    made = Rendezvous({"port": 0, "slots": 8, "patience": 0.3}, KEY, 3)
    yield made
    for link in made.links:
        link.sock.close()
    made.server.close()


def come(meeting: Rendezvous, *lines: str) -> NodeConnection:
    """A connection that says ``lines``; what the main node answered can be read from it."""
    link = NodeConnection(socket.create_connection(("127.0.0.1", meeting.server.getsockname()[1]), 5))
    for line in lines:
        link.send(line)
    for _ in range(3):
        meeting.listen(0.2)
    return link


def test_all_come(meeting: Rendezvous):
    second = come(meeting, "node job 2 8", "ready")
    first = come(meeting, "node job 1 8", "ready")
    assert [link.index for link in meeting.gather()] == [1, 2]
    assert first.lines() == second.lines() == [f"key {KEY}"]
    first.sock.close()
    second.sock.close()


def test_only_who_is_ready_counts(meeting: Rendezvous):
    links = [come(meeting, "node job 2 8"), come(meeting, "node job 1 8", "ready")]
    with pytest.raises(NodeExit, match=r"^nodes that did not come within 0.3 s: 2; see their state and log$"):
        meeting.gather()
    for link in links:
        link.sock.close()


@pytest.mark.parametrize(
    "line", ["node other 1 8", "node job 0 8", "node job 3 8", "node job 1 4", "node", "node job x"]
)
def test_who_is_refused(meeting: Rendezvous, line: str):
    link = come(meeting, line)
    (answer,) = link.lines() or []
    assert answer.startswith("refused job ")
    assert answer.endswith("; this is job job")
    assert meeting.missing == {1, 2}
    link.sock.close()


def test_no_index_comes_twice(meeting: Rendezvous):
    first, again = come(meeting, "node job 1 8"), come(meeting, "node job 1 8")
    assert first.lines() == [f"key {KEY}"]
    assert again.lines() == ["refused job job, index 1, 8 slots; this is job job"]
    first.sock.close()
    again.sock.close()


@pytest.mark.parametrize("line", ["GET / HTTP/1.1", "ready", "notice", "error x", "x" * 5000])
def test_who_has_not_said_its_name_changes_nothing(meeting: Rendezvous, line: str):
    come(meeting, line).sock.close()
    assert meeting.listen(0.2) == []
    assert meeting.missing == {1, 2}
    assert termination.signals_received == []


def test_a_node_that_says_what_is_wrong(meeting: Rendezvous):
    link = come(meeting, "node job 1 8")
    link.send("error the image has no sshd; install openssh-server in it")
    with pytest.raises(NodeExit, match=r"^node 1 \(127.0.0.1\): the image has no sshd; install openssh-server in it$"):
        meeting.gather()
    link.sock.close()


def test_a_node_that_leaves_before_the_start(meeting: Rendezvous):
    come(meeting, "node job 1 8").sock.close()
    with pytest.raises(NodeExit, match=r"^node 1 \(127.0.0.1\) left before the start; look at its log$"):
        meeting.gather()


def test_many_that_do_not_come():
    meeting = Rendezvous({"port": 0, "slots": 8, "patience": 0}, KEY, 64)
    with pytest.raises(NodeExit, match=r": 1, 2, .*, 20 and 43 more; see their state and log$"):
        meeting.gather()
    meeting.server.close()


def test_interface_of_an_address():
    assert interface_name("127.0.0.1") == "lo"
    with pytest.raises(NodeExit, match=r"^no network interface has this node's address 192.0.2.1$"):
        interface_name("192.0.2.1")


def test_a_program_that_is_missing():
    with pytest.raises(NodeExit, match=r"^the image has no sshdd; install openssh-server in it$") as end:
        find_program("sshdd", "openssh-server")
    assert end.value.code == 127
