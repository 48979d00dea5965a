"""Run `gpufleet rehearse` and kill one of its processes at a moment of the simulated provider."""

import ctypes
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gpufleet.cli import main
from gpufleet_rehearsal import workspace
from tests.crashes.provider import script

VICTIMS = ("engine", "provider", "language host", "program", "rehearse", "all")
"""`rehearse` is the command itself, whose engine goes on alone; `all` is a power cut."""
OF_DESTROY = ("engine", "provider", "rehearse", "all")
"""A destroy runs no program."""
PATIENCE = 300.0
"""Seconds to wait for what must come."""
_SUBREAPER = 36


class NoCrash(Exception):
    """The crash did not take place; the text says why."""


@dataclass(frozen=True)
class Crash:
    """Whom to kill when. moment: as in provider.py. recorded: only once the engine has written its state after it."""

    victim: str
    moment: str
    recorded: bool = False

    def __str__(self) -> str:
        return f"kill -9 {self.victim}, {self.moment}{', state written' if self.recorded else ''}"


def keep_orphans() -> None:
    """Make this process the parent of whatever loses its own below it, so that none gets lost."""
    ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)


def start(arguments: Sequence[str], **hook: str) -> int:
    """Start `gpufleet rehearse ...` with the observed provider, in a session of its own. Returns its process id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.setsid()
        workspace._PLUGIN = script(**hook)
        try:
            main(["rehearse", *arguments])
        finally:
            sys.stdout.flush()
            os._exit(0)
    return pid


def crash(home: workspace.Workspace, stack: str, arguments: Sequence[str], planned: Crash) -> None:
    """Run a command, kill, and wait until everything that it started has ended. Errors: NoCrash."""
    path = str(home.project / "harness")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        command = start(arguments, harness=path, moment=planned.moment)
        connection = _reached(listening, command)
    Path(path).unlink()
    with connection:
        (provider, _, _) = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        victims = _victims(planned.victim, command, provider)
        running = [words for _, words in _below(command)]
        if not planned.recorded:
            _kill(victims)
    if planned.recorded and victims:
        _await_write(home._state(stack), victims[0])
        _kill(victims)
    wait_for_all()
    if not victims:
        raise NoCrash(f"no {planned.victim} among {running}")


def wait_for_all() -> None:
    """Wait until no process is left that this one or its like has started. Errors: NoCrash, having ended them."""
    end = time.monotonic() + PATIENCE
    with suppress(ChildProcessError):
        while time.monotonic() < end:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
        left = _below(os.getpid())
        _kill([pid for pid, _ in left])
        raise NoCrash(f"still there: {'; '.join(words for _, words in left)}")


def _reached(listening: socket.socket, command: int) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if select.select([listening], [], [], 0.1)[0]:
            return listening.accept()[0]
        if os.waitpid(command, os.WNOHANG)[0]:
            break
    raise NoCrash("the moment did not come")


def _victims(who: str, command: int, provider: int) -> list[int]:
    """Process ids, the command's own last, so that nothing is started meanwhile."""
    everything = _below(command)
    if who == "all":
        return [*(pid for pid, _ in everything), command]
    if who in ("rehearse", "provider"):
        return [command if who == "rehearse" else provider]
    word = {"engine": "pulumi ", "language host": "pulumi-language-python ", "program": "pulumi-language-python-exec"}
    return [pid for pid, words in everything if word[who] in words][:1]


def _below(pid: int) -> list[tuple[int, str]]:
    """The processes that a process has started, and those that these have: id and command line, parents first."""
    found: list[tuple[int, str]] = []
    # The kernel lists children by the thread that has started them.
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, listed.read_text().split()):
                words = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found += [(child, words), *_below(child)]
    return found


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _await_write(state: Path, engine: int) -> None:
    """Until the engine writes its state, or ends."""
    before = _stamp(state)
    while _stamp(state) == before and Path(f"/proc/{engine}/exe").exists():
        time.sleep(0.0005)


def _stamp(file: Path) -> tuple[int, int] | None:
    with suppress(FileNotFoundError):
        found = file.stat()
        return found.st_ino, found.st_mtime_ns
    return None
