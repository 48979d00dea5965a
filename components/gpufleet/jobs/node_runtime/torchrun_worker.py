# Another node of a torchrun job: its own torchrun, which waits for the main node's; mpi_worker is its counterpart.
from __future__ import annotations

import signal
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_output import finish_output, forward_output
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import exit_code, send_signal
from gpufleet.jobs.node_runtime.process_tree import kill_tree
from gpufleet.jobs.node_runtime.rank_variables import set_variables
from gpufleet.jobs.node_runtime.torchrun_ranks import start_torchrun


# The process that is watched from now on, and what the main node needs to know of it: nothing.
def join(plan: dict[str, Any], key: str, link: NodeConnection, command: list[str]) -> tuple[int, str]:
    forward_output(link)
    set_variables(plan["env"], link.address, link.sock.getsockname()[0])
    return start_torchrun(plan, command), "-"


# Its code decides, but this node stays until the main node has ended.
def process_ended(link: NodeConnection, code: int) -> int:
    finish_output()
    link.send(f"ended {code}")
    return 0


# torchrun passes SIGTERM on.
def stop(process: int) -> None:
    if process:
        send_signal(process, signal.SIGTERM)
        for _ in range(50):
            if exit_code(process) is not None:
                break
            time.sleep(0.2)
        else:
            kill_tree(process)
        finish_output()
