# What Azure Batch tells a node of a multi-instance task; aws_context is its counterpart.
from __future__ import annotations

import os
import socket

from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import NodeExit, say
from gpufleet.jobs.node_runtime.termination import signals_received

# Of sysexits(3), where it means that another try may succeed.
EVICTED = 75


def variable(name: str) -> str:
    return os.environ.get("AZ_BATCH_" + name, "")


# The port beside it is Azure Batch's own.
def main_address() -> str:
    return variable("MASTER_NODE").partition(":")[0]


# The addresses of all nodes, the master node's first, as its task is number 0 of all. Without multi-instance settings
# a task has none.
def node_addresses() -> list[str]:
    nodes = variable("HOST_LIST").split(",") if variable("HOST_LIST") else []
    return sorted(nodes, key=lambda address: address != main_address())


# Of a node no more than its address is known: its index is the place of that in the list.
def batch_number(name: str) -> int:
    nodes = node_addresses()
    if name == "NUM_NODES":
        return len(nodes)
    if name == "MAIN_NODE_INDEX" or not nodes:
        return 0
    for index, address in enumerate(nodes):
        with socket.socket() as probe:
            try:
                probe.bind((address, 0))
            except OSError:
                # Another node's.
                continue
            return index
    raise NodeExit(f"none of AZ_BATCH_HOST_LIST={variable('HOST_LIST')} is here; run the container with --network host")


# Of all nodes the same. Tasks of several jobs may have one name.
def job_id() -> str:
    return f"{variable('JOB_ID')}/{variable('TASK_ID')}"


# The hosts of the ranks, the main node first. Those of the list, no matter which have come: ranks get the job's
# secrets.
def rank_hosts(address: str, nodes: list[NodeConnection]) -> list[str]:
    return node_addresses() or [address]


# The task's exit code, after mpirun's; gone is a node that went away meanwhile.
def job_exit_code(code: int, gone: NodeConnection | None, nodes: list[NodeConnection]) -> int:
    if not code or signals_received:
        return code
    if not gone:
        # mpirun may have noticed first: of a node that is evicted nothing may be heard at all.
        for node in nodes:
            try:
                socket.create_connection((node.address, 2222), 5).close()
            except OSError:
                gone = node
                break
    if not gone:
        return code
    say(
        f"node {gone.index} ({gone.address}) is gone, as a Spot node that is evicted: this try of the task ends with "
        f"code {EVICTED}; the next one continues from the newest checkpoint"
    )
    return EVICTED
