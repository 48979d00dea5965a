"""What a job comes to, as `gpufleet jobs` tells it; who waits in vain fails with what it told last."""

import json
import re
import time
from collections.abc import Callable
from typing import Any, TypeVar

_SECONDS = 600
Told = TypeVar("Told")


def status(run: Any, job: str) -> dict[str, Any]:
    done = run("status", job, "--json")
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def wait_for_state(run: Any, job: str, state: str) -> dict[str, Any]:
    return _wait(lambda: status(run, job), lambda found: found["state"] == state)


def wait_for_reason(run: Any, job: str, reasons: str) -> list[str]:
    """Why it waits, once that begins with one of the reasons: Slurm says none, or another, before it has looked."""
    begins = re.compile(rf"({reasons})\b")
    return _wait(lambda: status(run, job)["waiting"], lambda lines: bool(lines) and bool(begins.match(lines[0])))


def wait_for_line(run: Any, job: str, line: str) -> None:
    _wait(lambda: run("logs", job).stdout, lambda text: f"{line}\n" in text)


def _wait(look: Callable[[], Told], wanted: Callable[[Told], bool]) -> Told:
    end = time.monotonic() + _SECONDS
    while not wanted(told := look()):
        assert time.monotonic() < end, told
        time.sleep(0.3)
    return told
