# The output of a node's ranks on AWS Batch: each node has its own log stream; azure_output is its counterpart.
from __future__ import annotations

from gpufleet.jobs.node_runtime.connection import NodeConnection


def forward_output(link: NodeConnection) -> None:
    pass


def finish_output() -> None:
    pass
