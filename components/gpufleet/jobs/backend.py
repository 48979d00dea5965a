"""The interface between `gpufleet jobs` and what runs the jobs: Kubernetes, AWS Batch, Azure Batch, Slurm or hosts."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from gpufleet.jobs.events import Event
from gpufleet.jobs.request import JobRequest

Note = Callable[[str], None]
"""Called with informational messages, one line each."""


@dataclass(frozen=True)
class Submission:
    """A validated job, ready to submit.

    document: everything that is sent, for `--dry-run`. advice: warnings of rules that do not reject the job, one line
    each. payload: the back end's own type, for its `submit`.
    """

    name: str
    document: Mapping[str, Any]
    advice: list[str] = field(default_factory=list)
    payload: object = None


class Backend(Protocol):
    """Jobs are identified by the names that users type. Errors of every method: UserError, with lines for the user."""

    where: str
    """Where the jobs are, for messages: a namespace, a queue or an account."""
    process: str
    """The process that a job's log and exit code belong to: the launcher, or the container."""
    waits_for_after: bool
    """Whether the client waits for the `--after` job before it submits; otherwise the back end waits."""

    def build_submission(self, request: JobRequest) -> Submission:
        """Build and validate the job for a request. Changes nothing."""
        ...

    def submit(self, submission: Submission, note: Note) -> str:
        """Submit the job and return the id that the back end assigns."""
        ...

    def list_jobs(self) -> list[dict[str, object]]:
        """The environment's jobs, newest first; each has at least name, state, created (RFC 3339)."""
        ...

    def size(self, job: Mapping[str, object]) -> str:
        """The size of one of `list_jobs` as text, for instance 2 nodes."""
        ...

    def details(self, name: str) -> dict[str, object]:
        """One job: as in `list_jobs`, with reason, message, exitCode and waiting, a list of lines."""
        ...

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        """Yield events until the job has ended. resume: the command that follows it again, for messages."""
        ...

    def read_log(self, name: str) -> Iterator[Event]:
        """Yield the log written so far."""
        ...

    def cancel(self, name: str) -> str:
        """Cancel a job. Returns a message for the user."""
        ...

    def put_secret(self, name: str, value: str) -> str:
        """Store a value under the name by which `secrets` of a request mean it, or replace it. Returns where it is."""
        ...
