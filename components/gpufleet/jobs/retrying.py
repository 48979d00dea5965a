"""Retries of calls to a service while a job is followed."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gpufleet.durations import format_duration
from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind

T = TypeVar("T")


class TransientError(UserError):
    """The service was not reached or could not answer; the same call may succeed later."""


@dataclass
class Retrying:
    """Retries of the calls for one job.

    service: what is called, for messages. permanent_error: raised by a call that no retry can help, for instance with
    expired credentials. name, resume: the job as the user gave it, and the command that follows it again. backoff: for
    required calls; best-effort calls have a copy of it.
    """

    service: str
    permanent_error: type[UserError]
    name: str
    resume: str
    backoff: Backoff = field(default_factory=Backoff)
    log_abandoned: bool = field(default=False, init=False)
    """Whether best-effort calls have failed for too long; the job's state is still followed."""
    best_effort_backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self.best_effort_backoff = replace(self.backoff)

    def retry(self, call: Callable[[], T]) -> Generator[Event, None, T]:
        """The result of a required call, retried. Errors: UserError after the time limit."""
        while True:
            try:
                answer = call()
            except TransientError as error:
                yield from self._pause(error)
                continue
            except self.permanent_error as error:
                raise self._abandoned(error) from error
            if self.backoff.waiting:
                yield Event(EventKind.NOTE, f"{self.service} answers again")
            self.backoff.worked()
            return answer

    def best_effort(self, events: Iterator[Event]) -> Iterator[Event]:
        """Events of a best-effort call; if it fails, the next poll calls again."""
        try:
            yield from events
        except TransientError as error:
            if not self.best_effort_backoff.waiting:
                yield Event(EventKind.NOTE, f"{error}; asking again")
            if not self.best_effort_backoff.pause():
                self.log_abandoned = True
                yield Event(EventKind.NOTE, f"{error}; the log is given up, see it with `{self.resume}`")
                self.best_effort_backoff.worked()
        except self.permanent_error as error:
            raise self._abandoned(error) from error
        else:
            self.best_effort_backoff.worked()

    def _pause(self, error: TransientError) -> Iterator[Event]:
        first = not self.backoff.waiting
        if not self.backoff.pause():
            raise UserError(
                f"{error}; gave up after {format_duration(self.backoff.limit)}, the job is not touched; continue with "
                f"`{self.resume}`"
            ) from error
        if first:
            yield Event(EventKind.NOTE, f"{error}; trying again for {format_duration(self.backoff.limit)}")

    def _abandoned(self, error: UserError) -> UserError:
        return UserError(f"{error}; {self.name} continues, follow it again with `{self.resume}`")
