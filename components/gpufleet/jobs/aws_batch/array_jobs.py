"""The children of an array job while one follows it: how many are in which state, and which have failed."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, index_of
from gpufleet.jobs.aws_batch.status import STATES, Job, children, counts, exit_code_of, why
from gpufleet.jobs.events import Event, Kind

SHORTEST_SECONDS = 10.0
"""Between two lines of counts: of hundreds of children some change their state every second."""
NAMED = 20
"""Most failed children that are named one by one."""


@dataclass
class Children:
    """Those of one array. name: the array's, as the user gave it."""

    jobs: AwsBatchJobs
    name: str
    shortest: float = SHORTEST_SECONDS
    clock: Callable[[], float] = time.monotonic
    _said: dict[str, int] = field(default_factory=dict, init=False)
    _said_at: float | None = field(default=None, init=False)
    _failed: dict[int, int | None] = field(default_factory=dict, init=False)
    """Exit code by index of the children that have failed."""

    def changes(self, array: Job) -> Iterator[Event]:
        """What is new of the children. Errors: Busy."""
        now = counts(array)
        if now != self._said and (self._said_at is None or self.clock() - self._said_at >= self.shortest):
            self._said, self._said_at = now, self.clock()
            yield Event(Kind.STATE, f"{self.name}: {counted(now, children(array))}")
        if now.get("FAILED", 0) > len(self._failed):
            yield from self.failures(array)

    def end(self, array: Job, took: str) -> Event:
        """The last word on an array that has ended, when all its `failures` are known."""
        if array["status"] == "SUCCEEDED":
            return Event(Kind.END, f"{self.name}: succeeded{took}: all {children(array)} children", 0)
        codes = {code for code in self._failed.values() if code}
        which = f" ({ranges(sorted(self._failed))})" if self._failed else ""
        said = why(array)
        text = f"{self.name}: failed{took}: {len(self._failed)} of {children(array)} children failed{which}"
        # An exit code that all failing children share is the job's own.
        return Event(Kind.END, text + (f": {said}" if said else ""), codes.pop() if len(codes) == 1 else 1)

    def failures(self, array: Job) -> list[Event]:
        """The children that have failed and were not told of yet. Errors: Busy."""
        failed = self.jobs.children_in(str(array["jobId"]), "FAILED")
        new = [child for child in failed if index_of(child) not in self._failed]
        details = self.jobs.describe(str(child["jobId"]) for child in new)
        return [line for child, detail in zip(new, details, strict=True) for line in self._told(detail or child)]

    def _told(self, child: Job) -> Iterator[Event]:
        code = exit_code_of(child)
        self._failed[index_of(child)] = code
        if len(self._failed) == NAMED + 1:
            yield Event(Kind.STATE, f"{self.name}: more children have failed; the end names them together")
        if len(self._failed) <= NAMED:
            said = why(child)
            has = f"exit code {code}" if code is not None else "no exit code"
            words = f"{self.name}:{index_of(child)}: FAILED: {has}" + (f" ({said})" if said else "")
            yield Event(Kind.STATE, words)


def counted(by_state: dict[str, int], size: int) -> str:
    """The children by state, those that are furthest first: 3 SUCCEEDED, 1 RUNNING of 4."""
    furthest = [state for state in reversed(STATES) if by_state.get(state)]
    return ", ".join(f"{by_state[state]} {state}" for state in furthest) + f" of {size}"


def ranges(numbers: Sequence[int]) -> str:
    """Sorted numbers with those in a row together: 0..3, 7."""
    rows: list[list[int]] = []
    for number in numbers:
        if rows and rows[-1][-1] == number - 1:
            rows[-1].append(number)
        else:
            rows.append([number])
    return ", ".join(f"{row[0]}..{row[-1]}" if len(row) > 1 else str(row[0]) for row in rows)
