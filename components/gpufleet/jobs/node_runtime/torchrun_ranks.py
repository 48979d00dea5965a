# Ranks that torchrun starts on each node; mpi_ranks is its counterpart.
from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number
from gpufleet.jobs.node_runtime.process import find_program, send_signal, start_process

# A variable that only ranks have: torch/distributed/elastic/agent/server/local_elastic_agent.py.
RANK_VARIABLE = b"TORCHELASTIC_RUN_ID="


# torchrun of this node. The main node has rank 0, whatever its index: the store is there.
def start_torchrun(plan: dict[str, Any], command: list[str]) -> int:
    count = batch_number("NUM_NODES") or 1
    told = {
        "{nodes}": count,
        "{node}": (batch_number("NODE_INDEX") - batch_number("MAIN_NODE_INDEX")) % count,
        "{address}": os.environ["MASTER_ADDR"],
        "{port}": os.environ["MASTER_PORT"],
    }
    words = [str(told.get(word, word)) for word in plan["torchrun"]]
    find_program(words[0], "Python with PyTorch")
    return start_process([*words, *command])


# Ranks do not end with a torchrun that is killed, and each may have its own session.
def kill_torchrun(process: int) -> None:
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
