"""The children of a followed array job: how many are in each state, and which failed."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, child_index
from gpufleet.jobs.aws_batch.status import (
    STATES,
    JobDetail,
    child_count,
    children_by_state,
    container_exit_code,
    reason_text,
)
from gpufleet.jobs.events import Event, EventKind

COUNT_INTERVAL_SECONDS = 10.0
"""Between two lines of counts: of hundreds of children some change their state every second."""
MAX_NAMED_CHILDREN = 20
"""Most failed children reported one by one."""


@dataclass
class ArrayChildren:
    """The children of one array. name: the array's, as the user gave it."""

    jobs: AwsBatchJobs
    name: str
    shortest: float = COUNT_INTERVAL_SECONDS
    clock: Callable[[], float] = time.monotonic
    _reported: dict[str, int] = field(default_factory=dict, init=False)
    _reported_at: float | None = field(default=None, init=False)
    _failed: dict[int, int | None] = field(default_factory=dict, init=False)
    """Exit code by index of the children that have failed."""

    def new_events(self, array: JobDetail) -> Iterator[Event]:
        """Events since the last poll. Errors: AwsBusy."""
        now = children_by_state(array)
        if now != self._reported and (self._reported_at is None or self.clock() - self._reported_at >= self.shortest):
            self._reported, self._reported_at = now, self.clock()
            yield Event(EventKind.STATE, f"{self.name}: {count_text(now, child_count(array))}")
        if now.get("FAILED", 0) > len(self._failed):
            yield from self.failure_events(array)

    def end_event(self, array: JobDetail, took: str) -> Event:
        """The END event of an array, once all its `failure_events` are known."""
        if array["status"] == "SUCCEEDED":
            return Event(EventKind.END, f"{self.name}: succeeded{took}: all {child_count(array)} children", 0)
        codes = {code for code in self._failed.values() if code}
        which = f" ({format_ranges(sorted(self._failed))})" if self._failed else ""
        said = reason_text(array)
        text = f"{self.name}: failed{took}: {len(self._failed)} of {child_count(array)} children failed{which}"
        # An exit code that all failing children share is the job's own.
        return Event(EventKind.END, text + (f": {said}" if said else ""), codes.pop() if len(codes) == 1 else 1)

    def failure_events(self, array: JobDetail) -> list[Event]:
        """The children that failed since the last poll. Errors: AwsBusy."""
        failed = self.jobs.list_children(str(array["jobId"]), "FAILED")
        new = [child for child in failed if child_index(child) not in self._failed]
        details = self.jobs.describe(str(child["jobId"]) for child in new)
        return [line for child, detail in zip(new, details, strict=True) for line in self._failure(detail or child)]

    def _failure(self, child: JobDetail) -> Iterator[Event]:
        code = container_exit_code(child)
        self._failed[child_index(child)] = code
        if len(self._failed) == MAX_NAMED_CHILDREN + 1:
            yield Event(EventKind.STATE, f"{self.name}: more children have failed; the end names them together")
        if len(self._failed) <= MAX_NAMED_CHILDREN:
            said = reason_text(child)
            has = f"exit code {code}" if code is not None else "no exit code"
            words = f"{self.name}:{child_index(child)}: FAILED: {has}" + (f" ({said})" if said else "")
            yield Event(EventKind.STATE, words)


def count_text(by_state: dict[str, int], size: int) -> str:
    """The children by state, those that are furthest first: 3 SUCCEEDED, 1 RUNNING of 4."""
    furthest = [state for state in reversed(STATES) if by_state.get(state)]
    return ", ".join(f"{by_state[state]} {state}" for state in furthest) + f" of {size}"


def format_ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers with those in a row together: 0..3, 7."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return ", ".join(f"{row[0]}..{row[-1]}" if len(row) > 1 else str(row[0]) for row in rows)
