# Batch ends a container with SIGTERM to its first process, and SIGKILL 30 s later: the ranks have to hear of it.
from __future__ import annotations

import contextlib
import signal
from pathlib import Path

from gpufleet.jobs.node_runtime.mpi_ranks import RANK_VARIABLE
from gpufleet.jobs.node_runtime.process import say, send_signal

# What the first process was asked to end with.
signals_received: list[int] = []


# Tells the ranks here, known by a variable of theirs: of those that catch SIGUSR1, else SIGTERM, the outermost only. A
# signal that is not caught would end a rank's shell or its data loaders, and with one of them all ranks.
def notify_ranks() -> None:
    parents: dict[int, int] = {}
    listening: dict[int, signal.Signals] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # Those that end meanwhile, and another user's, are passed over.
        with contextlib.suppress(OSError):
            pid = int(folder.name)
            told = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            parents[pid] = int(told["PPid"])
            caught = int(told["SigCgt"], 16)
            if RANK_VARIABLE in (folder / "environ").read_bytes():
                for sign in (signal.SIGTERM, signal.SIGUSR1):
                    if caught >> (sign - 1) & 1:
                        listening[pid] = sign
    for pid, sign in listening.items():
        above = parents[pid]
        while above and above not in listening:
            above = parents.get(above, 0)
        if not above:
            say(f"notice to process {pid}")
            send_signal(pid, sign)
