"""One table of a sweep: of each child its state, its parameters, and the result that it has written.

A child's result is the JSON object in result.json of its outputs: each of its keys is a column.
"""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, child_index
from gpufleet.jobs.aws_batch.parameter_sweep import PARAMETERS_FILE, read_csv
from gpufleet.jobs.aws_batch.status import JobDetail, child_count, children_by_state

RESULT_FILE = "result.json"
RESULTS_FILE = "results.csv"
UNKNOWN = "UNKNOWN"
"""The state of a child that AWS Batch has forgotten."""

Result = Mapping[str, object]


@dataclass(frozen=True)
class SweepResults:
    """The table of an array of this name. directory: where its outputs are, each child's in a folder of its index."""

    jobs: AwsBatchJobs
    name: str
    directory: Path

    def write(self) -> Iterator[str]:
        """Write it, and say so in a line; nothing for a job that is not a sweep. Errors: UserError."""
        names, rows = self._parameters()
        states, fault = self._states()
        count = max(len(rows), len(states))
        if count < 2:
            return
        if fault:
            yield f"{self.name}: the states of its children are not known: {fault}"
        results: list[Result | None] = []
        for child in range(count):
            result, fault = _result(self.directory / str(child) / RESULT_FILE)
            results.append(result)
            if fault:
                yield f"{self.name}:{child}: {RESULT_FILE} {fault}; its row has no result"
        keys = list(dict.fromkeys(key for result in results for key in result or ()))
        taken = {"child", "state", *names}
        header = ["child", "state", *names, *(f"result.{key}" if key in taken else key for key in keys)]
        file = self.directory / RESULTS_FILE
        try:
            with file.open("w", newline="", encoding="utf-8") as target:
                table = csv.writer(target, lineterminator="\n")
                table.writerow(header)
                for child, result in enumerate(results):
                    row = rows[child] if child < len(rows) else [""] * len(names)
                    found = [_cell((result or {}).get(key)) for key in keys]
                    table.writerow([child, states.get(child, UNKNOWN), *row, *found])
        except OSError as error:
            raise UserError(f"{file}: {error.strerror}; give another directory") from error
        yield f"{file}: {count:,} children, {sum(result is not None for result in results):,} with a result"

    def _parameters(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        file = self.directory / PARAMETERS_FILE
        if not file.exists():
            return (), ()
        table = read_csv(file)
        return table.names, table.rows

    def _states(self) -> tuple[dict[int, str], str]:
        """The state of each child, and why they are not known; nothing of a job that is not an array."""
        try:
            return self._told(self.jobs.find(self.name)), ""
        except UserError as error:
            return {}, str(error)

    def _told(self, job: JobDetail) -> dict[int, str]:
        # A child that was never listed in another state waits with its array.
        found = dict.fromkeys(range(child_count(job)), str(job["status"]))
        for state in children_by_state(job):
            found |= {child_index(child): state for child in self.jobs.list_children(str(job["jobId"]), state)}
        return found


def _result(file: Path) -> tuple[Result | None, str]:
    """What a child has written, and what is wrong with it."""
    if not file.exists():
        return None, ""
    try:
        return read_json(file, shape=dict[str, object]), ""
    except DocumentError as error:
        return None, error.reason


def _cell(value: object) -> object:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
