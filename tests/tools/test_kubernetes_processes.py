"""Processes that outlive their starter are found again, and no other process is ever taken for one of them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.kubernetes.processes import Identity, ProcessEnded, Processes

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)"]


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path)
    yield made
    made.stop(made.names())


def test_a_started_process_is_found_by_another_starter_and_ended(processes: Processes, tmp_path: Path) -> None:
    identity = processes.start("sleeper", SLEEP)
    other = Processes(tmp_path)
    assert other.find("sleeper") == identity
    assert other.stop(["sleeper"]) == ["sleeper"]
    assert not identity.alive
    assert (other.find("sleeper"), other.names()) == (None, [])


def test_a_process_of_a_starter_that_was_killed_is_found_and_ended(processes: Processes, tmp_path: Path) -> None:
    starter = (
        "import os, signal, sys; from pathlib import Path; from tools.kubernetes.processes import Processes;"
        f"Processes(Path({str(tmp_path)!r})).start('sleeper', {SLEEP!r}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", starter], cwd=Path(__file__).parents[2])
    assert done.returncode == -signal.SIGKILL
    identity = processes.find("sleeper")
    assert identity is not None
    assert processes.stop(["sleeper"]) == ["sleeper"]
    assert not identity.alive


def test_another_process_with_the_same_id_is_left_alone(processes: Processes, tmp_path: Path) -> None:
    bystander = subprocess.Popen(SLEEP, stdout=subprocess.PIPE)
    try:
        real = Identity.of(bystander.pid)
        assert real is not None
        earlier = Identity(real.pid, real.started - 1)
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "sleeper.json").write_text(json.dumps({"process": str(earlier)}))
        assert processes.find("sleeper") is None
        assert processes.stop(["sleeper"]) == []
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.communicate()


def test_a_process_that_ignores_sigterm_is_killed(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.kubernetes.processes.GRACE_SECONDS", 0.3)
    deaf = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(60)"
    )
    identity = processes.start("deaf", [sys.executable, "-c", deaf])
    _wait_for_line(processes.log("deaf"))
    assert processes.stop(["deaf"]) == ["deaf"]
    assert not identity.alive


def test_a_process_that_has_ended_is_told_with_its_last_line(processes: Processes) -> None:
    processes.start(
        "short", [sys.executable, "-c", "import time; print('bad flag'); time.sleep(0.2); raise SystemExit(2)"]
    )
    deadline = time.monotonic() + 120
    while processes.find("short") and time.monotonic() < deadline:
        time.sleep(0.02)
    with pytest.raises(ProcessEnded) as told:
        processes.must_run("short")
    assert str(told.value) == f"short has ended; its last line: bad flag (all of it in {processes.log('short')})"


def test_a_program_that_is_not_there_leaves_no_record(processes: Processes) -> None:
    with pytest.raises(FileNotFoundError):
        processes.start("absent", ["/nonexistent/program"])
    assert processes.names() == []


def test_identity_is_read_as_it_is_written() -> None:
    own = Identity.of(os.getpid())
    assert own is not None
    assert Identity.parse(str(own)) == own
    assert own.alive
    assert Identity.of(2**22 + 1) is None


def _wait_for_line(log: Path) -> None:
    deadline = time.monotonic() + 120
    while not log.read_text() and time.monotonic() < deadline:
        time.sleep(0.02)
