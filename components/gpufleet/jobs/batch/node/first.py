# The first process: python3 -I -c TEXT COMMAND...; TEXT ends with a call of main with what start.py has planned.
from __future__ import annotations

import json
import signal
import sys

from gpufleet.jobs.batch.node.child import follow
from gpufleet.jobs.batch.node.lead import lead
from gpufleet.jobs.batch.node.notice import asked
from gpufleet.jobs.batch.node.process import End, number, say


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
