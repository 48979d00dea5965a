# The first process of a child of an array: it looks up the child's row of parameters, puts it into the environment and
# into the command, and becomes the command. parameter_sweep.py sends it as text without comments, with its plan:
#   names, and grid (the values of each) or rows or at (bucket, key, region of a CSV file); own, how many of the last
#   words of the command are the user's. Python 3.8 or newer, and nothing that is not in its library.
from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from typing import Any

from gpufleet.jobs.aws_batch.node_side.s3 import RowError, fetch


# The values of one row of a grid: the last name's change fastest.
def grid_row(grid: list[list[str]], index: int) -> list[str]:
    found: list[str] = []
    for values in reversed(grid):
        index, at = divmod(index, len(values))
        found.insert(0, values[at])
    return found


def row(plan: dict[str, Any], index: int) -> list[str]:
    if "grid" in plan:
        return grid_row(plan["grid"], index)
    rows = plan.get("rows")
    if rows is None:
        rows = list(csv.reader(io.StringIO(fetch(*plan["at"]).decode(), newline="")))[1:]
    if index >= len(rows):
        raise RowError("there are " + str(len(rows)) + " rows of parameters, and this is child " + str(index))
    found: list[str] = rows[index]
    return found


def main(text: str) -> int:
    plan = json.loads(text)
    words, environment = sys.argv[1:], dict(os.environ)
    index = int(environment.get("AWS_BATCH_JOB_ARRAY_INDEX", "0"))
    try:
        values = dict(zip(plan["names"], row(plan, index)))  # noqa: B905 - Python 3.8
        for at in range(len(words) - plan["own"], len(words)):
            words[at] = re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), words[at])
        environment.update(values)
        if "AWS_BATCH_JOB_ARRAY_INDEX" in environment and environment.get("GPUFLEET_OUTPUTS"):
            environment["GPUFLEET_OUTPUTS"] += "/" + str(index)
        told = " ".join(name + "=" + value for name, value in values.items())
        print("gpufleet: " + told, file=sys.stderr, flush=True)
        os.execvpe(words[0], words, environment)
    except FileNotFoundError:
        print("gpufleet: the image has no " + words[0], file=sys.stderr)
        return 127
    except (RowError, OSError) as error:
        print("gpufleet: " + str(error), file=sys.stderr)
    return 1
