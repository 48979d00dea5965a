# A child's row of parameters; a part of what start.py sends.
from __future__ import annotations

import csv
import io
from typing import Any

from gpufleet.jobs.aws_batch.node_side.failure import StartError
from gpufleet.jobs.aws_batch.node_side.s3 import fetch


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
        raise StartError("there are " + str(len(rows)) + " rows of parameters, and this is child " + str(index))
    found: list[str] = rows[index]
    return found
