"""Follow a job on own servers until it has ended: its states, why it waits, its log."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.durations import format_duration
from gpufleet.jobs.events import Event, Kind
from gpufleet.jobs.retrying import Retrying
from gpufleet.jobs.ssh.connection import SshError
from gpufleet.jobs.ssh.log_stream import LogTail


class Followed(Protocol):
    """A job at one moment."""

    @property
    def state(self) -> str: ...
    @property
    def described(self) -> str:
        """Its state and the reason for it, for a person."""
        ...

    @property
    def ended(self) -> bool: ...
    @property
    def waits(self) -> bool:
        """Whether it has no nodes yet."""
        ...

    @property
    def succeeded(self) -> bool: ...
    @property
    def why(self) -> str:
        """The reason of its end besides its exit code, or empty."""
        ...

    @property
    def exit_code(self) -> int | None: ...
    @property
    def took_seconds(self) -> float | None: ...


J = TypeVar("J", bound=Followed)


@dataclass
class SshJobFollower(Generic[J]):
    """One job, followed.

    look: the job now; holdups: why it waits, in lines. process: what the exit code is of. logs: whether the log is
    wanted. shortest, longest: seconds between two looks; they grow while nothing changes.
    """

    service: str
    name: str
    resume: str
    look: Callable[[], J]
    holdups: Callable[[J], Sequence[str]]
    log: LogTail
    process: str
    logs: bool = True
    shortest: float = 1.0
    longest: float = 15.0
    patience: Backoff = field(default_factory=Backoff)
    _said: Sequence[str] = field(default=(), init=False)
    _lines: int = field(default=0, init=False)

    def events(self) -> Iterator[Event]:
        """What happens, as it happens; END is the last.

        Errors: UserError when there is no such job, or the machine does not answer for too long.
        """
        asking = Retrying(self.service, SshError, self.name, self.resume, self.patience)
        before, pause = "", self.shortest
        while True:
            job = yield from asking.certain(self.look)
            if job.state != before:
                before, pause = job.state, self.shortest
                yield Event(Kind.STATE, f"{self.name}: {job.state if job.ended else job.described}")
            if job.ended:
                break
            lines = self._lines
            if job.waits:
                yield from asking.aside(self._waiting(job))
            elif self.logs and not asking.given_up:
                yield from asking.aside(self._log(self.log.new))
            pause = self.shortest if self._lines > lines else min(pause * 1.5, self.longest)
            self.patience.sleep(pause)
        while self.logs and not asking.given_up:
            yield from asking.aside(self._log(self.log.rest))
            if not asking.beside.waiting:
                break
        yield self._end(job)

    def _waiting(self, job: J) -> Iterator[Event]:
        lines = self.holdups(job)
        if lines != self._said:
            self._said = lines
            yield from (Event(Kind.WAITING, f"{self.name}: waits: {line}") for line in lines)

    def _log(self, part: Callable[[], Iterator[str]]) -> Iterator[Event]:
        for line in part():
            self._lines += 1
            yield Event(Kind.LINE, line)

    def _end(self, job: J) -> Event:
        took = "" if job.took_seconds is None else f" after {format_duration(job.took_seconds)}"
        if job.succeeded:
            return Event(Kind.END, f"{self.name}: succeeded{took}", 0)
        code = job.exit_code
        has = (
            f"the {self.process}'s exit code is {code}" if code is not None else f"its {self.process} has no exit code"
        )
        why = f" ({job.why})" if job.why else ""
        return Event(Kind.END, f"{self.name}: {job.state.lower()}{took}: {has}{why}", code or 1)
