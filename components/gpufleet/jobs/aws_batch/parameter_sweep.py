"""The parameters of an array's children: a row for each, from a CSV file or a grid, and how a child gets its own.

A grid of any size and a short table travel in the command itself; a longer one lies in the bucket, as parameters.csv of
the job's outputs, where it is written in any case, so that one can look up later which child had which row.
"""

import csv
import io
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.rules.messages import format_value

PARAMETERS_FILE = "parameters.csv"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_OURS = re.compile(r"(AWS|BATCH|ECS|GPUFLEET|LD|NVIDIA|OMPI)_.*|HOME|PATH|PYTHON.*|USER")
"""Variables that something else of the container lives by."""


@dataclass(frozen=True)
class ParameterTable:
    """names: of the columns. rows: as many values each. grid: the values of each name, where the rows are all of
    their combinations, the last name's values changing fastest."""

    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    grid: Sequence[Sequence[str]] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def csv(self) -> str:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.names, *self.rows])
        return text.getvalue()

    def plan(self, at: tuple[str, str, str] | None) -> dict[str, object]:
        """What a child's environment holds of it. at: bucket, key and region of its CSV file, where it is too long for
        that."""
        if self.grid is not None:
            return {"names": self.names, "grid": self.grid}
        return {"names": self.names, **({"rows": self.rows} if at is None else {"at": at})}

    def unused(self, command: Sequence[str]) -> list[str]:
        """The names that no word of the command mentions, as {name}."""
        return [name for name in self.names if not any(f"{{{name}}}" in word for word in command)]


def read_csv(file: Path) -> ParameterTable:
    """A header with the names, and a row for each child. Errors: UserError."""
    try:
        lines = [row for row in csv.reader(io.StringIO(file.read_bytes().decode("utf-8-sig"), newline="")) if row]
    except OSError as error:
        fix = "give a CSV file: a line of names, then a line for each child"
        raise UserError(f"{file}: {error.strerror}; {fix}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{file}: is not a CSV file: {error}") from None
    if len(lines) < 2:
        raise UserError(f"{file}: has no rows; write a line of names, then a line for each child")
    names, *rows = lines
    _check(names, str(file))
    for number, row in enumerate(rows, 2):
        if len(row) != len(names):
            raise UserError(f"{file}: row {number} has {len(row)} values, and the first line names {len(names)}")
    return ParameterTable(tuple(names), tuple(tuple(row) for row in rows))


def expand_grid(grid: Mapping[str, Sequence[object]]) -> ParameterTable:
    """All combinations of the values of each name. Errors: UserError."""
    _check(list(grid), "grid")
    for name, values in grid.items():
        # A job's YAML file may say anything.
        if isinstance(values, str) or not hasattr(values, "__len__") or not values:
            raise UserError(
                f"grid: {name}={format_value(values)}: must be a list of values; write --grid {name}=0.1,0.01"
            )
    texts = tuple(tuple(str(value) for value in values) for values in grid.values())
    if math.prod(len(values) for values in texts) > 10**6:
        raise UserError(f"grid: {' x '.join(str(len(values)) for values in texts)} are too many combinations")
    return ParameterTable(tuple(grid), tuple(itertools.product(*texts)), texts)


def parse_grid_option(text: str) -> tuple[str, list[str]]:
    """lr=0.1,0.01 as name and values. Errors: UserError."""
    name, mark, values = text.partition("=")
    if not mark or not name or not all(values.split(",")):
        raise UserError(f"grid={text}: must be a list of values; write --grid lr=0.1,0.01")
    return name, values.split(",")


def indexed_command(command: Sequence[str]) -> list[str]:
    """The command of every child of an array without parameters: its index is put behind the outputs' place."""
    put = 'export GPUFLEET_OUTPUTS="${GPUFLEET_OUTPUTS:+$GPUFLEET_OUTPUTS/$AWS_BATCH_JOB_ARRAY_INDEX}"; exec "$@"'
    return ["/bin/sh", "-c", put, "sh", *command]


def _check(names: Sequence[str], where: str) -> None:
    for name in names:
        if not _NAME.fullmatch(name):
            raise UserError(
                f"{where}: name={format_value(name)}: is not a valid variable name; use letters, digits and _"
            )
        if _NOT_OURS.fullmatch(name):
            raise UserError(f"{where}: name={name}: the container itself needs this variable; use another name")
    if len(set(names)) < len(names):
        raise UserError(f"{where}: names={format_value(list(names))}: duplicate name; use each once")
