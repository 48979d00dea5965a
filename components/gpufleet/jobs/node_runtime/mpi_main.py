# The main node of an MPI job: mpirun's key, hosts and words; torchrun_main is its counterpart.
from __future__ import annotations

import os
import signal
import time
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import job_exit_code, rank_hosts
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.keys import make_folder, make_key
from gpufleet.jobs.node_runtime.process import HERE, exit_code, find_program, send_signal, start_process
from gpufleet.jobs.node_runtime.rendezvous import Rendezvous
from gpufleet.jobs.node_runtime.termination import notify_ranks, signals_received


# Of so many nodes; None for one alone.
def open_rendezvous(plan: dict[str, Any], count: int) -> Rendezvous | None:
    make_folder()
    if count < 2:
        return None
    find_program("ssh", "openssh-client")
    return Rendezvous(plan, make_key("key"), count)


# The words of what starts the ranks. nodes: the others.
def mpirun_command(plan: dict[str, Any], command: list[str], address: str, nodes: list[NodeConnection]) -> list[str]:
    (HERE / "hostfile").write_text("".join(f"{host} slots={plan['slots']}\n" for host in rank_hosts(address, nodes)))
    # Of a node that was proven to be the job's: see rendezvous.
    (HERE / "known_hosts").write_text("".join(f"gpufleet {node.host_key}\n" for node in nodes))
    if not os.getuid():
        os.environ["OMPI_ALLOW_RUN_AS_ROOT"] = os.environ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    if plan["mpirun"]:
        command = ["mpirun", "-np", str(plan["slots"] * (1 + len(nodes))), *plan["mpirun"], *command]
    find_program(command[0], "openmpi-bin")
    return command


# address: this node's. nodes: the others.
def run_launcher(
    plan: dict[str, Any], command: list[str], meeting: Rendezvous | None, address: str, nodes: list[NodeConnection]
) -> int:
    mpirun, told, gone = start_process(mpirun_command(plan, command, address, nodes)), False, None
    ends: list[tuple[float, signal.Signals]] = []
    while True:
        code = exit_code(mpirun)
        if code is not None:
            break
        now = time.monotonic()
        for link in meeting.listen(0.5) if meeting else []:
            gone = gone or link
            # mpirun notices by itself, but where the node's network is gone with it.
            ends = ends or [(now + 10, signal.SIGTERM), (now + 15, signal.SIGKILL)]
        if not meeting:
            time.sleep(0.5)
        if signals_received and not told:
            told = True
            for link in meeting.links if meeting else []:
                link.send("notice")
            notify_ranks()
            # mpirun ends its ranks a second after SIGTERM: late, so that they can save, and before Batch does.
            end = now + plan["grace"]
            ends = [(end - 6, signal.SIGTERM), (end - 2, signal.SIGKILL)]
        if ends and now > ends[0][0]:
            send_signal(mpirun, ends.pop(0)[1])
    return job_exit_code(code, gone, meeting.links if meeting else [])
