"""Follow a job until it has ended: the polling loop that AWS Batch, Azure Batch, Slurm and hosts share.

Kubernetes has its own loop (kubernetes/follow.py): its log comes from a thread, by way of a queue.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from gpufleet.durations import format_duration
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.retrying import Retrying

J = TypeVar("J")
PENDING_MINUTES = 10.0
"""Default of how long a job on a batch service may wait for nodes before its pending reasons are reported.

An instance of AWS takes 4 minutes to come, seldom 10; a formula of Azure Batch looks every 5 minutes, and a node takes
as long.
"""


class JobFollower(ABC, Generic[J]):
    """One job of a back end, polled. The subclass has these fields and says what is read of a job.

    name: as the user gave it. resume: the command that follows the job again. logs: whether to read the log. shortest,
    longest: seconds between two polls; the interval grows while nothing changes.
    """

    name: str
    resume: str
    logs: bool
    shortest: float
    longest: float
    backoff: Backoff
    clock: Callable[[], float]
    _retrying: Retrying
    _state_since: float = 0.0
    """When the current state was first seen, by `clock`."""
    _reasons: Sequence[str] = ()
    _line_count: int = 0

    def events(self) -> Iterator[Event]:
        """Yield events as they occur; END is the last.

        Errors: UserError when there is no such job, or the service does not answer for too long.
        """
        previous: J | None = None
        self._state_since, pause = self.clock(), self.shortest
        while True:
            job = yield from self._retrying.retry(self._fetch)
            if previous is not None:
                yield from self._attempt_events(previous, job)
            if previous is None or self._state(job) != self._state(previous):
                self._state_since, pause = self.clock(), self.shortest
                yield Event(EventKind.STATE, f"{self.name}: {self._state_text(job)}")
            previous = job
            yield from self._progress_events(job)
            if self._has_ended(job):
                break
            if self._reports_reasons(job):
                yield from self._retrying.best_effort(self._reason_events(job))
            line_count = self._line_count
            if self._reads_log(job):
                yield from self._retrying.best_effort(self._log_events(job))
            pause = self.shortest if self._line_count > line_count else min(pause * 1.5, self.longest)
            self.backoff.sleep(pause)
        yield from self._remaining_log_events(job)
        yield from self._end_events(job)

    @abstractmethod
    def _fetch(self) -> J:
        """The job now."""

    @abstractmethod
    def _state(self, job: J) -> str: ...

    @abstractmethod
    def _state_text(self, job: J) -> str:
        """The state and the reason for it, for display."""

    @abstractmethod
    def _has_ended(self, job: J) -> bool: ...

    def _attempt_events(self, previous: J, job: J) -> Iterator[Event]:
        """Events for an attempt that ended since the previous poll."""
        yield from ()

    def _progress_events(self, job: J) -> Iterator[Event]:
        """Further events of every poll, the last one too."""
        yield from ()

    @abstractmethod
    def _reports_reasons(self, job: J) -> bool:
        """Whether to look up why the job is pending."""

    @abstractmethod
    def _pending_reasons(self, job: J) -> Sequence[str]: ...

    @abstractmethod
    def _reads_log(self, job: J) -> bool: ...

    @abstractmethod
    def _log_events(self, job: J) -> Iterator[Event]:
        """New lines of the log; `_line_count` counts them."""

    @abstractmethod
    def _remaining_log_events(self, job: J) -> Iterator[Event]:
        """The log of a job that has ended, to its end."""

    @abstractmethod
    def _end_events(self, job: J) -> Iterator[Event]:
        """The END event, and what comes just before it."""

    @property
    def _wants_log(self) -> bool:
        return self.logs and not self._retrying.log_abandoned

    def _line_events(self, lines: Iterator[str]) -> Iterator[Event]:
        for line in lines:
            self._line_count += 1
            yield Event(EventKind.LINE, line)

    def _to_its_end(self, read: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        """The events of a log that is complete, read again until no error comes in between."""
        while self._wants_log:
            yield from self._retrying.best_effort(read())
            if not self._retrying.best_effort_backoff.waiting:
                return

    def _reason_events(self, job: J) -> Iterator[Event]:
        lines = self._pending_reasons(job)
        if lines != self._reasons:
            self._reasons = lines
            yield from (Event(EventKind.WAITING, f"{self.name}: waits: {line}") for line in lines)


def duration_text(seconds: float | None) -> str:
    """How long a job took, to append to its state: " after 3 min", or empty."""
    return "" if seconds is None else f" after {format_duration(seconds)}"


def failed_event(name: str, state: str, seconds: float | None, process: str, code: int | None, reason: str) -> Event:
    """The END event of a job that did not succeed. process: what the exit code is of."""
    has = f"the {process}'s exit code is {code}" if code is not None else f"its {process} has no exit code"
    why = f" ({reason})" if reason else ""
    return Event(EventKind.END, f"{name}: {state}{duration_text(seconds)}: {has}{why}", code or 1)


def succeeded_event(name: str, seconds: float | None) -> Event:
    return Event(EventKind.END, f"{name}: succeeded{duration_text(seconds)}", 0)
