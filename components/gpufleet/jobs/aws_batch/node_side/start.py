# The first process of a container: it fetches the job's program and the child's row of parameters, puts the row into
# the environment and into the command, and becomes the command. ../container_start.py sends it with its plan:
#   program (the arguments of unpack); names, and grid (the values of each) or rows or at (bucket, key, region of a CSV
#   file); own, how many of the last words of the command are the user's. Python 3.8 or newer and its library.
from __future__ import annotations

import json
import os
import re
import sys

from gpufleet.jobs.aws_batch.node_side.failure import StartError
from gpufleet.jobs.aws_batch.node_side.program import unpack
from gpufleet.jobs.aws_batch.node_side.row import row


def main(text: str) -> int:
    plan = json.loads(text)
    words, environment = sys.argv[1:], dict(os.environ)
    index = environment.get("AWS_BATCH_JOB_ARRAY_INDEX")
    try:
        if "program" in plan:
            unpack(*plan["program"])
        if "names" in plan:
            values = dict(zip(plan["names"], row(plan, int(index or 0))))  # noqa: B905 - Python 3.8
            for at in range(len(words) - plan["own"], len(words)):
                words[at] = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), words[at])
            environment.update(values)
            told = " ".join(name + "=" + value for name, value in values.items())
            print("gpufleet: " + told, file=sys.stderr, flush=True)
        if index and environment.get("GPUFLEET_OUTPUTS"):
            environment["GPUFLEET_OUTPUTS"] += "/" + index
        os.execvpe(words[0], words, environment)
    except FileNotFoundError:
        print("gpufleet: the image has no " + words[0], file=sys.stderr)
        return 127
    except (StartError, OSError) as error:
        print("gpufleet: " + str(error), file=sys.stderr)
    return 1
