"""Questions to a cloud's service while one follows a job: asked again until there is an answer, and for how long."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.durations import format_duration
from gpufleet.jobs.events import Event, Kind

T = TypeVar("T")


class TransientError(UserError):
    """The service was not reached, or could not answer now; the same question may have an answer later."""


@dataclass
class Retrying:
    """Those about one job.

    service: whom one asks, for messages. refusal: what is raised for an answer that will not change, for instance to
    credentials that have expired. name, resume: the job as the user gave it, and the command that follows it again.
    patience: for what one cannot do without; what is told beside it has as much of its own.
    """

    service: str
    refusal: type[UserError]
    name: str
    resume: str
    patience: Backoff = field(default_factory=Backoff)
    given_up: bool = field(default=False, init=False)
    """Whether what is told beside the state has failed for too long: without it the job is followed all the same."""
    beside: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self.beside = replace(self.patience)

    def certain(self, question: Callable[[], T]) -> Generator[Event, None, T]:
        """The answer, however long the service needs for it. Errors: UserError when it needs too long."""
        while True:
            try:
                answer = question()
            except TransientError as error:
                yield from self._pause(error)
                continue
            except self.refusal as error:
                raise self._left(error) from error
            if self.patience.waiting:
                yield Event(Kind.NOTE, f"{self.service} answers again")
            self.patience.worked()
            return answer

    def aside(self, told: Iterator[Event]) -> Iterator[Event]:
        """What is worth telling beside the state. What cannot be said now is asked again at the next look."""
        try:
            yield from told
        except TransientError as error:
            if not self.beside.waiting:
                yield Event(Kind.NOTE, f"{error}; asking again")
            if not self.beside.pause():
                self.given_up = True
                yield Event(Kind.NOTE, f"{error}; the log is given up, see it with `{self.resume}`")
                self.beside.worked()
        except self.refusal as error:
            raise self._left(error) from error
        else:
            self.beside.worked()

    def _pause(self, error: TransientError) -> Iterator[Event]:
        first = not self.patience.waiting
        if not self.patience.pause():
            raise UserError(
                f"{error}; gave up after {format_duration(self.patience.limit)}, the job is not touched; go on with "
                f"`{self.resume}`"
            ) from error
        if first:
            yield Event(Kind.NOTE, f"{error}; trying again for {format_duration(self.patience.limit)}")

    def _left(self, error: UserError) -> UserError:
        return UserError(f"{error}; {self.name} goes on, follow it again with `{self.resume}`")
