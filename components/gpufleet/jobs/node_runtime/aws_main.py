# The first process on AWS Batch: python3 -I -c TEXT COMMAND...; TEXT ends with a call of main with start.py's plan.
from __future__ import annotations

import json
import signal
import sys

from gpufleet.jobs.node_runtime.aws_context import number
from gpufleet.jobs.node_runtime.main_node import lead
from gpufleet.jobs.node_runtime.process import End, say
from gpufleet.jobs.node_runtime.termination import asked
from gpufleet.jobs.node_runtime.worker_node import follow


def main(told: str) -> int:
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda number, frame: asked.append(number))
    try:
        plan = json.loads(told)
        if number("NODE_INDEX") != number("MAIN_NODE_INDEX"):
            return follow(plan)
        return lead(plan, sys.argv[1:])
    except End as end:
        say(str(end))
        return end.code
    except (OSError, ValueError) as error:
        say(f"{type(error).__name__}: {error}")
        return 1
