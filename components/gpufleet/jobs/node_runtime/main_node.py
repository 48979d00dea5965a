# The main node: waits for the others, runs the launcher of the ranks, and ends all with its exit code.
from __future__ import annotations

from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number
from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.mpi_main import open_rendezvous, run_launcher
from gpufleet.jobs.node_runtime.process import NodeExit
from gpufleet.jobs.node_runtime.rank_variables import set_variables


def run_main_node(plan: dict[str, Any], command: list[str]) -> int:
    count, meeting, code, address = batch_number("NUM_NODES") or 1, None, 1, "127.0.0.1"
    nodes: list[NodeConnection] = []
    try:
        meeting = open_rendezvous(plan, count)
        if meeting:
            nodes = meeting.gather()
            # The address that the others know.
            address = nodes[0].sock.getsockname()[0]
        set_variables(plan["env"], address, address)
        code = run_launcher(plan, command, meeting, address, nodes)
    except NodeExit as end:
        code = end.code
        raise
    finally:
        if meeting:
            meeting.end(code)
    return code
