"""The processes that the language host starts."""

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import IO

# Seconds that a child gets between the request to end and its being killed. The engine gives this host 5.
GRACE_SECONDS = 2.0
# With it the kernel kills a child whose parent is gone; BusyBox has another `setpriv`, which cannot. With `preexec_fn`
# Python would fork through the handlers of gRPC, which crash.
SETPRIV = Path(shutil.which("setpriv") or "/nowhere").resolve()
DIE_WITH_PARENT = [str(SETPRIV), "--pdeathsig", "KILL", "--"] if SETPRIV.name == "setpriv" else []


class Children:
    """The processes that this host has started: each in a session of its own, all ended when the host ends.

    In sessions of their own they do not see the interrupt that a terminal or the engine sends, which Python would
    answer with a traceback in the user's output. They end with the host even if it is killed: otherwise the program
    waits for the engine, and the engine for the program, which has the host's output.
    """

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self.stopping = False

    def start(self, command: list[str], cwd: str, env: dict[str, str], *, piped: bool) -> subprocess.Popen[bytes]:
        """Start `command`; with `piped` its two output streams are pipes, else the host's own."""
        stream = subprocess.PIPE if piped else None
        with self._lock:
            if self.stopping:
                raise OSError("the language host is stopping")
            child = subprocess.Popen(
                [*DIE_WITH_PARENT, *command],
                cwd=cwd,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            self._running.add(child)
        return child

    def wait(self, child: subprocess.Popen[bytes]) -> int:
        """The child's exit status; 128 + n where signal n ended it."""
        status = child.wait()
        with self._lock:
            self._running.discard(child)
        return 128 - status if status < 0 else status

    def end(self, child: subprocess.Popen[bytes]) -> None:
        """Ask the child and what it started to end, and kill what is left after `GRACE_SECONDS`."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(child.pid, sign)
                child.wait(GRACE_SECONDS)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue

    def end_all(self) -> None:
        with self._lock:
            self.stopping = True
            running = list(self._running)
        enders = [threading.Thread(target=self.end, args=(child,)) for child in running]
        for ender in enders:
            ender.start()
        for ender in enders:
            ender.join()


def output_of(child: subprocess.Popen[bytes]) -> Iterator[tuple[str, bytes]]:
    """What the child writes, as ("stdout" | "stderr", bytes), until both streams are closed."""
    chunks: SimpleQueue[tuple[str, bytes]] = SimpleQueue()

    def copy(name: str, stream: IO[bytes]) -> None:
        while data := os.read(stream.fileno(), 65536):
            chunks.put((name, data))
        chunks.put((name, b""))

    streams = {"stdout": child.stdout, "stderr": child.stderr}
    for name, stream in streams.items():
        assert stream is not None
        threading.Thread(target=copy, args=(name, stream), daemon=True).start()
    open_streams = len(streams)
    while open_streams:
        name, data = chunks.get()
        if data:
            yield name, data
        else:
            open_streams -= 1
