"""What runs jobs: Kubernetes with the MPI operator, AWS Batch or Azure Batch. `gpufleet jobs` knows no more of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpufleet.jobs.events import Event
from gpufleet.jobs.request import JobRequest

Note = Callable[[str], None]
"""Told what is worth a line and is no fault."""


@dataclass(frozen=True)
class Submission:
    """A job that could be submitted as it stands.

    document: all that is sent, for `--dry-run`. advice: what rules say against it without refusing it, a line each.
    """

    name: str
    document: Mapping[str, Any]
    advice: list[str] = field(default_factory=list)


class Backend(Protocol):
    """Every name of a job is one that a person types. Errors of every method: UserError, in lines for the user."""

    where: str
    """What holds the jobs, for messages: a namespace, a queue or an account."""
    process: str
    """What a job's log and exit code are of: the launcher, or the container."""
    waits_for_after: bool
    """Whether `--after` is waited for here, before the job is submitted; else the back end waits."""

    def build_submission(self, request: JobRequest) -> Submission:
        """The job that the environment makes of a request. Changes nothing."""
        ...

    def submit(self, plan: Submission, note: Note) -> str:
        """Submit it, and return the id that the back end gives it."""
        ...

    def listed(self) -> list[dict[str, object]]:
        """The environment's jobs, newest first; of each at least name, state, created (RFC 3339)."""
        ...

    def size(self, job: Mapping[str, object]) -> str:
        """How large one of `listed` is, in a few words."""
        ...

    def details(self, name: str) -> dict[str, object]:
        """One job: as of `listed`, with reason, message, exitCode and waiting, a list of lines."""
        ...

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        """What happens to a job until it has ended. resume: the command that follows it again, for messages."""
        ...

    def written_so_far(self, name: str) -> Iterator[Event]:
        """The log until now."""
        ...

    def cancel(self, name: str) -> str:
        """End a job. Returns what became of it, for the user."""
        ...
