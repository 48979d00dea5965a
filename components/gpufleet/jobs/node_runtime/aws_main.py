# The first process on AWS Batch: python3 -I -c TEXT COMMAND...; TEXT ends with main(the plan of entrypoint.py).
from __future__ import annotations

import json
import signal
import sys

from gpufleet.jobs.node_runtime.aws_context import batch_number
from gpufleet.jobs.node_runtime.main_node import run_main_node
from gpufleet.jobs.node_runtime.process import NodeExit, say
from gpufleet.jobs.node_runtime.termination import signals_received
from gpufleet.jobs.node_runtime.worker_node import run_worker_node


def main(told: str) -> int:
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda number, frame: signals_received.append(number))
    try:
        plan = json.loads(told)
        if batch_number("NODE_INDEX") != batch_number("MAIN_NODE_INDEX"):
            return run_worker_node(plan, sys.argv[1:])
        if "port" in plan:
            say("NCCL_NET=" + plan["env"].get("NCCL_NET", "as given"))
        return run_main_node(plan, sys.argv[1:])
    except NodeExit as end:
        say(str(end))
        return end.code
    except (OSError, ValueError) as error:
        say(f"{type(error).__name__}: {error}")
        return 1
