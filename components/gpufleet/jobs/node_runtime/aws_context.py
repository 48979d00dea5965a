# What AWS Batch tells a node; azure_context is its counterpart.
from __future__ import annotations

import os

from gpufleet.jobs.node_runtime.connection import NodeConnection
from gpufleet.jobs.node_runtime.process import say


# A number that Batch gives, 0 where it does not: a job of one container is the main node of one.
def batch_number(name: str) -> int:
    return int(os.environ.get("AWS_BATCH_JOB_" + name, 0))


# Of all nodes the same; what follows # is the node's index.
def job_id() -> str:
    return os.environ.get("AWS_BATCH_JOB_ID", "").partition("#")[0] or "-"


def main_address() -> str:
    return os.environ.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS", "")


# The hosts of the ranks, the main node first: those that have come.
def rank_hosts(address: str, nodes: list[NodeConnection]) -> list[str]:
    return [address, *(node.address for node in nodes)]


# The job's exit code, after mpirun's; gone is a node that went away meanwhile.
def job_exit_code(code: int, gone: NodeConnection | None, nodes: list[NodeConnection]) -> int:
    if gone:
        code = code or 1
        say(f"node {gone.index} ({gone.address}) is gone; look at its log")
    return code
