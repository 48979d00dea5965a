# Ranks that torchrun starts on each node; mpi_ranks is its counterpart.
from __future__ import annotations

import os
from typing import Any

from gpufleet.jobs.node_runtime.aws_context import batch_number
from gpufleet.jobs.node_runtime.process import find_program, start_process

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
