"""How set-up tells what it is doing: one line per step, with the seconds since it began."""

import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path

Say = Callable[[str], None]

HEARTBEAT_SECONDS = 20


def teller() -> Say:
    """A function that prints `[  1.2 s] line` at once, counted from now."""
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"[{time.monotonic() - began:6.1f} s] {line}", flush=True)

    return say


def run_quietly(
    command: list[str],
    doing: str,
    unit: str,
    say: Say,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> tuple[int, str]:
    """Run a long command; every 20 s say how many lines (`unit`) it has written.

    Returns its exit code and the last line of its output, for the error message. It is ended when this process is
    interrupted.
    """
    count, last = 0, deque[str](maxlen=1)
    done = threading.Event()

    def beat() -> None:
        while not done.wait(HEARTBEAT_SECONDS):
            say(f"{doing}: {count} {unit} so far")

    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        threading.Thread(target=beat, daemon=True).start()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                count += 1
                if line.strip():
                    last.append(line.strip())
        except BaseException:
            process.terminate()
            raise
        finally:
            done.set()
    return process.returncode, last[0] if last else "nothing"
