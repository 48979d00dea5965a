# The main node of a torchrun job: its own torchrun, and news of the others'; mpi_main is its counterpart.
from __future__ import annotations

import signal
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import job_exit_code
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import exit_code, send_signal
from gpufleet.jobs.node_runtime.process_tree import kill_tree
from gpufleet.jobs.node_runtime.termination import notify_ranks, signals_received
from gpufleet.jobs.node_runtime.torchrun_ranks import start_torchrun
from gpufleet.jobs.node_runtime.torchrun_rendezvous import TorchrunRendezvous


# Of so many nodes; None for one alone.
def open_rendezvous(plan: dict[str, Any], count: int) -> TorchrunRendezvous | None:
    return TorchrunRendezvous(plan, count) if count > 1 else None


# address: this node's. nodes: the others.
def run_launcher(
    plan: dict[str, Any],
    command: list[str],
    meeting: TorchrunRendezvous | None,
    address: str,
    nodes: list[NodeConnection],
) -> int:
    torchrun, code, gone, told = start_torchrun(plan, command), -1, None, False
    ends: list[tuple[float, signal.Signals]] = []
    while True:
        now = time.monotonic()
        if code < 0:
            ended = exit_code(torchrun)
            code = code if ended is None else ended
        # The others may end later than this one; after a notice they may still save.
        if code >= 0 and not (meeting and meeting.running and (ends if told else not (code or meeting.code or gone))):
            break
        for link in meeting.listen(0.5) if meeting else []:
            assert meeting
            gone = gone or link
            meeting.running.discard(link.index)
        if not meeting:
            time.sleep(0.5)
        elif (gone or meeting.code) and not ends:
            # What ranks here say of it, they have time to write. torchrun would wait for the others.
            ends = [(now + 2, signal.SIGTERM), (now + 12, signal.SIGKILL)]
        if signals_received and not told:
            told = True
            for link in meeting.links if meeting else []:
                link.send("notice")
            notify_ranks()
            # torchrun would give ranks half a minute more, which is too late for Batch.
            end = now + plan["grace"]
            ends = [(end - 6, signal.SIGTERM), (end - 2, signal.SIGKILL)]
        if ends and now > ends[0][0]:
            sign = ends.pop(0)[1]
            if sign == signal.SIGKILL:
                kill_tree(torchrun)
            else:
                send_signal(torchrun, sign)
    if meeting:
        code = code or meeting.code
    if gone:
        code = code or 1
    # torchrun's own code says nothing of a notice.
    return job_exit_code(143 if code == 1 and told else code, gone, meeting.links if meeting else [])
