"""Follow a job over ssh until it has ended: its states, why it is pending, its log."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event
from gpufleet.jobs.follow import JobFollower, failed_event, succeeded_event
from gpufleet.jobs.retrying import Retrying
from gpufleet.jobs.ssh.connection import SshError
from gpufleet.jobs.ssh.log_stream import SshLogStream


class FollowedJob(Protocol):
    """A job at one moment."""

    @property
    def state(self) -> str: ...
    @property
    def state_text(self) -> str:
        """Its state and the reason for it, for display."""
        ...

    @property
    def ended(self) -> bool: ...
    @property
    def is_pending(self) -> bool:
        """Whether it has no nodes yet."""
        ...

    @property
    def succeeded(self) -> bool: ...
    @property
    def end_reason(self) -> str:
        """The reason of its end besides its exit code, or empty."""
        ...

    @property
    def exit_code(self) -> int | None: ...
    @property
    def duration_seconds(self) -> float | None: ...


J = TypeVar("J", bound=FollowedJob)


@dataclass
class SshJobFollower(JobFollower[J]):
    """One job, polled over ssh.

    get_job: the job now. pending_reasons: why it is pending, one line each. process: what the exit code is of.
    """

    service: str
    name: str
    resume: str
    get_job: Callable[[], J]
    pending_reasons: Callable[[J], Sequence[str]]
    log: SshLogStream
    process: str
    logs: bool = True
    shortest: float = 1.0
    longest: float = 15.0
    backoff: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._retrying = Retrying(self.service, SshError, self.name, self.resume, self.backoff)

    def _fetch(self) -> J:
        return self.get_job()

    def _state(self, job: J) -> str:
        return job.state

    def _state_text(self, job: J) -> str:
        return job.state if job.ended else job.state_text

    def _has_ended(self, job: J) -> bool:
        return job.ended

    def _reports_reasons(self, job: J) -> bool:
        return job.is_pending

    def _pending_reasons(self, job: J) -> Sequence[str]:
        return self.pending_reasons(job)

    def _reads_log(self, job: J) -> bool:
        return not job.is_pending and self._wants_log

    def _log_events(self, job: J) -> Iterator[Event]:
        return self._line_events(self.log.new_lines())

    def _remaining_log_events(self, job: J) -> Iterator[Event]:
        return self._to_its_end(lambda: self._line_events(self.log.remaining_lines()))

    def _end_events(self, job: J) -> Iterator[Event]:
        if job.succeeded:
            yield succeeded_event(self.name, job.duration_seconds)
            return
        state = job.state.lower()
        yield failed_event(self.name, state, job.duration_seconds, self.process, job.exit_code, job.end_reason)
