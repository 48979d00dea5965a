"""Long-running processes that outlive who starts them, known by a file with their id and the time they were started.

A process id is used again sooner or later, so no process is ended, or called alive, by its id alone. Linux only.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

GRACE_SECONDS = 8.0
"""How long a process may take to end after SIGTERM, before SIGKILL. Our choice."""


class ProcessEnded(Exception):
    """A process that should run has ended; the text has the last line of its log and where the log lies."""


@dataclass(frozen=True)
class Identity:
    """One process of this machine since it was booted."""

    pid: int
    started: int
    """When the process was started, in clock ticks since boot: field 22 of /proc/<pid>/stat, see proc(5)."""

    @property
    def alive(self) -> bool:
        """Whether it runs. One that has ended, but was not waited for yet, does not."""
        return _started(self.pid) == self.started

    @classmethod
    def of(cls, pid: int) -> "Identity | None":
        """The running process with this id, if any."""
        started = _started(pid)
        return None if started is None else cls(pid, started)

    @classmethod
    def parse(cls, text: str) -> "Identity":
        """Of `<pid>:<started>`, as `str` writes it. Raises ValueError."""
        pid, _, started = text.partition(":")
        return cls(int(pid), int(started))

    def __str__(self) -> str:
        return f"{self.pid}:{self.started}"


def _started(pid: int) -> int | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])


class Processes:
    """The processes of one home directory: `<home>/run/<name>.json` and `<home>/logs/<name>.log`."""

    def __init__(self, home: Path) -> None:
        self._run = home / "run"
        self._logs = home / "logs"

    def log(self, name: str) -> Path:
        return self._logs / f"{name}.log"

    def start(self, name: str, command: Sequence[str], env: Mapping[str, str] | None = None) -> Identity:
        """Start `command` in a session of its own, so that Ctrl-C on the starter does not reach it.

        Its output is added to its log. Raises OSError where the program cannot be started.
        """
        for folder in (self._run, self._logs):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.log(name).open("ab") as log:
            process = subprocess.Popen(
                list(command), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True
            )
        try:
            identity = Identity.of(process.pid)
            if identity is None:
                process.wait()
                raise ProcessEnded(self._why(name, f"ended at once with {process.returncode}"))
            fresh = self._run / f".{name}.new"
            fresh.write_text(json.dumps({"process": str(identity), "command": list(command)}), encoding="utf-8")
            fresh.replace(self._record(name))
        except BaseException:
            process.kill()
            process.wait()
            raise
        # Whoever started it may be long-lived, and has to take note of its end; nobody else can.
        _children[identity] = process
        return identity

    def names(self) -> list[str]:
        """Of all that have a record, whether they run or not."""
        return sorted(path.stem for path in self._run.glob("*.json"))

    def find(self, name: str) -> Identity | None:
        """The running process of that name, whoever started it."""
        identity = self._recorded(name)
        if identity is None:
            return None
        _reap(identity)
        return identity if identity.alive else None

    def must_run(self, name: str) -> None:
        """Raises ProcessEnded where it does not run."""
        if self.find(name) is None:
            raise ProcessEnded(self._why(name, "has ended"))

    def stop(self, names: Sequence[str]) -> list[str]:
        """End these processes, all at once, and wait until they are gone; returns the names of those that ran.

        One that does not end in GRACE_SECONDS after SIGTERM is killed.
        """
        running = {name: identity for name in names if (identity := self.find(name))}
        for sign, patience in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, GRACE_SECONDS)):
            waiting = [identity for identity in running.values() if _signal(identity, sign)]
            deadline = time.monotonic() + patience
            while waiting and time.monotonic() < deadline:
                waiting = [identity for identity in waiting if not _reap(identity) and identity.alive]
                time.sleep(0.02)
        stuck = [f"{name} (process {identity.pid})" for name, identity in running.items() if identity.alive]
        if stuck:
            raise ProcessEnded(f"cannot be ended, even by SIGKILL: {', '.join(stuck)}")
        for name in names:
            self._record(name).unlink(missing_ok=True)
        return list(running)

    def _record(self, name: str) -> Path:
        return self._run / f"{name}.json"

    def _recorded(self, name: str) -> Identity | None:
        try:
            return Identity.parse(json.loads(self._record(name).read_text(encoding="utf-8"))["process"])
        except FileNotFoundError:
            return None

    def _why(self, name: str, what: str) -> str:
        log = self.log(name)
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() if log.exists() else []
        return f"{name} {what}; its last line: {lines[-1] if lines else 'nothing'} (all of it in {log})"


_children: dict[Identity, "subprocess.Popen[bytes]"] = {}


def _reap(identity: Identity) -> bool:
    """Take note of the end of a child of this process; whether it has ended."""
    child = _children.get(identity)
    if child is None or child.poll() is None:
        return False
    del _children[identity]
    return True


def _signal(identity: Identity, sign: signal.Signals) -> bool:
    """Whether the process ran, and was sent the signal."""
    if _reap(identity) or not identity.alive:
        return False
    try:
        os.kill(identity.pid, sign)
    except ProcessLookupError:
        return False
    return True
