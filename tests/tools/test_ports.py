"""Ports for servers of tests and rehearsals."""

import socket
import subprocess
import sys

import pytest

from tools.ports import FIRST, LAST, NoFreePort, free_ports


def test_they_are_different_and_outside_of_outgoing_connections() -> None:
    found = free_ports(4)
    assert len(set(found)) == 4
    assert all(FIRST <= port < LAST < 32768 for port in found)


def test_those_that_are_taken_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = iter([port for port in range(LAST - 200, LAST) if _nobody_has(port)])
    taken, free = next(tried), next(tried)
    monkeypatch.setattr("tools.ports.random.sample", lambda *_: [taken, free])
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", taken))
        listener.listen()
        assert free_ports(1) == [free]


def test_those_that_another_process_has_chosen_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its servers do not listen yet."""
    program = "from tools.ports import free_ports; print(free_ports(1)[0], flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout
        chosen = int(other.stdout.readline())
        monkeypatch.setattr("tools.ports.random.sample", lambda *_: [chosen])
        with pytest.raises(NoFreePort):
            free_ports(1)
        other.communicate("")
    assert free_ports(1) == [chosen]


def _nobody_has(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
