"""Steps of set-up that run at once: their results, and what becomes of the others when one fails."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.environment import ROOT, SetupFailed
from tools.parallel import run_in_parallel


def sleep_for_an_hour() -> None:
    subprocess.run(["sleep", "3600"], check=False)


def fail() -> None:
    raise SetupFailed("installing the lock failed")


def sleepers() -> set[int]:
    """Process ids of this user's `sleep 3600`."""
    found = subprocess.run(["pgrep", "-f", "^sleep 3600$"], capture_output=True, text=True, check=False).stdout
    return set(map(int, found.split()))


def test_steps_run_at_once_and_results_keep_their_order() -> None:
    began = time.monotonic()

    def slow() -> Path:
        time.sleep(1)
        return Path("engine")

    def also_slow() -> None:
        time.sleep(1)

    assert run_in_parallel([slow, also_slow, os.getpgrp])[:2] == [Path("engine"), None]
    assert time.monotonic() - began < 1.9


@pytest.mark.parametrize("failing_first", [True, False])
def test_a_step_that_fails_ends_the_others_with_the_programs_that_they_run(failing_first: bool) -> None:
    before = sleepers()
    began = time.monotonic()
    steps = [fail, sleep_for_an_hour] if failing_first else [sleep_for_an_hour, fail]
    with pytest.raises(SetupFailed, match=r"^installing the lock failed$"):
        run_in_parallel(steps)
    assert time.monotonic() - began < 10
    assert sleepers() <= before


def test_a_step_that_is_killed_is_an_error() -> None:
    with pytest.raises(ChildProcessError, match="a step of set-up was killed"):
        run_in_parallel([lambda: os.kill(os.getpid(), signal.SIGKILL)])


def test_an_interrupt_ends_every_step() -> None:
    before = sleepers()
    script = (
        "import subprocess\n"
        "from tools.parallel import run_in_parallel\n"
        "step = lambda: subprocess.run(['sleep', '3600'])\n"
        "run_in_parallel([step, step])\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while len(sleepers() - before) < 2:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    assert sleepers() <= before
