# The end of a process with all that it has started.
from __future__ import annotations

import contextlib
import signal
from pathlib import Path

from gpufleet.jobs.node_runtime.process import send_signal


# Ranks do not end with a launcher that is killed, and each may have its own session.
def kill_tree(process: int) -> None:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The parent is the second word behind the name: proc_pid_stat(5).
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(folder.name))
    waiting = [process]
    while waiting:
        send_signal(waiting[0], signal.SIGKILL)
        waiting += children.get(waiting.pop(0), [])
