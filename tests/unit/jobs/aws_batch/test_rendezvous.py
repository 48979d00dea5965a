"""Who the main node of a multi-node job lets in, and what it says of those who do not come."""

import hmac
import socket
from collections.abc import Iterator

import pytest

from gpufleet.jobs.node_runtime import termination, worker_node
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit, find_program
from gpufleet.jobs.node_runtime.rank_variables import interface_name
from gpufleet.jobs.node_runtime.rendezvous import Rendezvous

KEY = "ssh-ed25519 AAAA gpufleet"
SECRET = "1f" * 16
"""GPUFLEET_JOB_KEY of the job."""
KEYS = f"{SECRET}job"
"""What its nodes prove that they know."""


@pytest.fixture
def meeting(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rendezvous]:
    """Of three nodes with eight slots each; the main node is 0. A port that is free."""
    monkeypatch.setenv("AWS_BATCH_JOB_ID", "job#0")
    monkeypatch.setenv("AWS_BATCH_JOB_NODE_INDEX", "0")
    monkeypatch.setenv("GPUFLEET_JOB_KEY", SECRET)
    made = Rendezvous({"port": 0, "slots": 8, "patience": 0.3}, KEY, 3)
    yield made
    for link in made.links:
        link.sock.close()
    made.server.close()


def greeted(meeting: Rendezvous) -> tuple[NodeConnection, str]:
    """A connection, and the number that the main node said first."""
    link = NodeConnection(socket.create_connection(("127.0.0.1", meeting.server.getsockname()[1]), 5))
    meeting.listen(0.2)
    (hello,) = link.lines() or []
    return link, hello.removeprefix("hello ")


def come(meeting: Rendezvous, index: str, slots: str = "8", ready: str = "", key: str = KEYS) -> NodeConnection:
    """A connection that says it is node ``index`` of the job with ``key``; what it is answered can be read from it."""
    link, nonce = greeted(meeting)
    link.send(f"node {index} {proven(key, nonce, index, slots)}")
    if ready:
        link.send(f"ready {ready}")
    for _ in range(3):
        meeting.listen(0.2)
    return link


def proven(key: str, *words: str) -> str:
    return hmac.new(key.encode(), " ".join(words).encode(), "sha256").hexdigest()


def test_all_come(meeting: Rendezvous):
    second = come(meeting, "2", ready="ssh-ed25519 B")
    first = come(meeting, "1", ready="ssh-ed25519 A")
    assert [(link.index, link.host_key) for link in meeting.gather()] == [(1, "ssh-ed25519 A"), (2, "ssh-ed25519 B")]
    for link in (first, second):
        (line,) = link.lines() or []
        word, proof, key = line.split(" ", 2)
        assert (word, key, len(proof)) == ("key", KEY, 64)
        link.sock.close()


def test_only_who_is_ready_counts(meeting: Rendezvous):
    links = [come(meeting, "2"), come(meeting, "1", ready="ssh-ed25519 A")]
    with pytest.raises(NodeExit, match=r"^nodes that did not come within 0.3 s: 2; see their state and log$"):
        meeting.gather()
    for link in links:
        link.sock.close()


@pytest.mark.parametrize(
    ("index", "slots", "key"),
    [
        pytest.param("1", "8", f"{SECRET}other", id="another job of one submission's key"),
        pytest.param("1", "8", "job", id="knows the job's id alone"),
        pytest.param("1", "8", f"{SECRET[:-1]}0job", id="a wrong key"),
        pytest.param("0", "8", KEYS, id="the main node's index"),
        pytest.param("3", "8", KEYS, id="no node's index"),
        pytest.param("1", "4", KEYS, id="other slots"),
        pytest.param("x", "8", KEYS, id="no index"),
    ],
)
def test_who_is_refused(meeting: Rendezvous, index: str, slots: str, key: str):
    """And is told nothing: neither which job this is, nor what would be right."""
    link = come(meeting, index, slots, key=key)
    assert link.lines() == ["refused"]
    assert meeting.missing == {1, 2}
    link.sock.close()


@pytest.mark.parametrize("line", ["node", "node 1", "node 1 ", "node 1 é"])
def test_who_proves_nothing_is_refused(meeting: Rendezvous, line: str):
    link, _ = greeted(meeting)
    link.send(line)
    meeting.listen(0.2)
    assert link.lines() == ["refused"]
    link.sock.close()


def test_what_a_node_has_said_is_worth_nothing_to_another(meeting: Rendezvous):
    """Who has read a node's words on the network cannot say them again: the number is another one."""
    first, nonce = greeted(meeting)
    said = f"node 1 {proven(KEYS, nonce, '1', '8')}"
    again, other = greeted(meeting)
    assert nonce != other
    again.send(said)
    meeting.listen(0.2)
    assert again.lines() == ["refused"]
    first.sock.close()
    again.sock.close()


def test_no_index_comes_twice(meeting: Rendezvous):
    first, again = come(meeting, "1"), come(meeting, "1")
    assert [line.split(" ")[0] for line in first.lines() or []] == ["key"]
    assert again.lines() == ["refused"]
    first.sock.close()
    again.sock.close()


@pytest.mark.parametrize("line", ["GET / HTTP/1.1", "ready", "notice", "error x", "x" * 5000])
def test_who_has_not_said_its_name_changes_nothing(meeting: Rendezvous, line: str):
    link, _ = greeted(meeting)
    link.send(line)
    meeting.listen(0.2)
    link.sock.close()
    assert meeting.listen(0.2) == []
    assert meeting.missing == {1, 2}
    assert termination.signals_received == []


def test_a_node_that_says_what_is_wrong(meeting: Rendezvous):
    link = come(meeting, "1")
    link.send("error the image has no sshd; install openssh-server in it")
    with pytest.raises(NodeExit, match=r"^node 1 \(127.0.0.1\): the image has no sshd; install openssh-server in it$"):
        meeting.gather()
    link.sock.close()


def test_a_node_that_leaves_before_the_start(meeting: Rendezvous):
    come(meeting, "1").sock.close()
    with pytest.raises(NodeExit, match=r"^node 1 \(127.0.0.1\) left before the start; look at its log$"):
        meeting.gather()


@pytest.mark.parametrize("key", [f"{SECRET}job", "job", "otherjob"])
def test_a_node_takes_keys_from_its_own_jobs_main_node_only(monkeypatch: pytest.MonkeyPatch, key: str):
    """Whoever answers at the main node's address gets no ssh into the node without the job's key."""
    monkeypatch.setenv("AWS_BATCH_JOB_ID", "job#1")
    monkeypatch.setenv("AWS_BATCH_JOB_NODE_INDEX", "1")
    monkeypatch.setenv("GPUFLEET_JOB_KEY", SECRET)
    monkeypatch.setattr(worker_node, "join", lambda plan, given, link, command: (0, "ssh-ed25519 host"))
    here, there = socket.socketpair()
    with here, there:
        node = object.__new__(NodeConnection)
        node.sock, node.address = here, "10.0.0.1"
        there.sendall(b"hello 00\n")
        there.sendall(f"key {proven(key, '00', KEY)} {KEY}\nend 0\n".encode())
        if key == KEYS:
            assert worker_node.serve({"slots": 8, "grace": 5}, node, []) == 0
            assert there.recv(4096).decode().splitlines()[1] == "ready ssh-ed25519 host"
        else:
            with pytest.raises(NodeExit, match=r"^10.0.0.1 is not the main node of this job; look at that node's job$"):
                worker_node.serve({"slots": 8, "grace": 5}, node, [])


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
