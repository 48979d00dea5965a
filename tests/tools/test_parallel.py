"""Steps of set-up that run at once: their results, and what becomes of the others when one fails."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.environment import ROOT, SetupFailed
from tools.parallel import run_in_parallel


@pytest.fixture
def seconds() -> str:
    """How long the programs of this test sleep unless they are ended: about an hour, each test's own number."""
    return str(3600 + os.getpid() / 1e8)


def fail() -> None:
    raise SetupFailed("installing the lock failed")


def sleepers(seconds: str) -> int:
    """How many processes sleep for so long."""
    found = subprocess.run(["pgrep", "-f", f"^sleep {seconds}$"], capture_output=True, text=True, check=False).stdout
    return len(found.split())


def test_steps_run_at_once_and_results_keep_their_order(tmp_path: Path) -> None:
    def step(own: str, other: str) -> Callable[[], str]:
        def meet() -> str:
            (tmp_path / own).touch()
            while not (tmp_path / other).exists():
                time.sleep(0.01)
            return own

        return meet

    # Neither ends before the other has begun.
    assert run_in_parallel([step("engine", "packages"), step("packages", "engine")]) == ["engine", "packages"]


@pytest.mark.parametrize("failing_first", [True, False])
def test_a_step_that_fails_ends_the_others_with_the_programs_that_they_run(failing_first: bool, seconds: str) -> None:
    def sleep() -> None:
        subprocess.run(["sleep", seconds], check=False)

    with pytest.raises(SetupFailed, match=r"^installing the lock failed$"):
        run_in_parallel([fail, sleep] if failing_first else [sleep, fail])
    assert sleepers(seconds) == 0


EARLY = """
import time
from tests.tools.test_parallel import SetupFailed, fail, run_in_parallel
for _ in range(50):
    try:
        run_in_parallel([fail, lambda: time.sleep(600)])
    except SetupFailed:
        continue
    raise SystemExit("no step failed")
"""


def test_an_interrupted_step_prints_nothing_however_early() -> None:
    # The interrupt meets a step at a point of its start that differs each time. In a program of its own: gRPC, where
    # another test has left threads of it, prints a line at each fork.
    done = subprocess.run([sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_step_that_is_killed_is_an_error() -> None:
    with pytest.raises(ChildProcessError, match="a step of set-up was killed"):
        run_in_parallel([lambda: os.kill(os.getpid(), signal.SIGKILL)])


def test_an_interrupt_ends_every_step(seconds: str) -> None:
    script = (
        "import signal, subprocess\n"
        "from tools.parallel import run_in_parallel\n"
        # A shell's background jobs ignore SIGINT, and their children do.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"step = lambda: subprocess.run(['sleep', '{seconds}'])\n"
        "run_in_parallel([step, step])\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while sleepers(seconds) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=600)
    assert "KeyboardInterrupt" in errors
    assert sleepers(seconds) == 0
