"""Follow a job on AWS Batch until it has ended: its states, why it does not start, its log or its children."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from gpufleet.aws.client import AwsClientError
from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.array_jobs import ArrayChildren
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, state_text
from gpufleet.jobs.aws_batch.log_stream import AwsBatchLogStream
from gpufleet.jobs.aws_batch.pending_reasons import pending_reasons
from gpufleet.jobs.aws_batch.status import (
    JobDetail,
    child_count,
    container_exit_code,
    duration_seconds,
    has_ended,
    reason_text,
)
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.follow import PENDING_MINUTES, JobFollower, duration_text, failed_event, succeeded_event
from gpufleet.jobs.retrying import Retrying

DRAIN_SECONDS = 8.0
"""How long a log has to be silent after the job's end to count as read: the nodes' log driver sends at least every 5 s,
and what it has sent can be read a moment later."""


@dataclass
class AwsBatchJobFollower(JobFollower[JobDetail]):
    """One job, polled.

    name: as the user gave it. pending_minutes: how long it may be RUNNABLE before its pending reasons are reported.
    """

    jobs: AwsBatchJobs
    name: str
    resume: str
    logs: bool = True
    pending_minutes: float = PENDING_MINUTES
    shortest: float = 1.0
    longest: float = 5.0
    drain: float = DRAIN_SECONDS
    backoff: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic
    _id: str = field(default="", init=False)
    _streams: dict[str, AwsBatchLogStream] = field(default_factory=dict, init=False)
    _array: ArrayChildren = field(init=False)

    def __post_init__(self) -> None:
        self._retrying = Retrying("AWS", AwsClientError, self.name, self.resume, self.backoff)
        self._array = ArrayChildren(self.jobs, self.name)

    def _fetch(self) -> JobDetail:
        if not self._id:
            job = self.jobs.find(self.name)
            self._id = str(job["jobId"])
            return job
        [found] = self.jobs.describe([self._id])
        if found is None:
            raise UserError(f"{self.name}: AWS Batch no longer knows the job; see `gpufleet jobs list`")
        return found

    def _state(self, job: JobDetail) -> str:
        return str(job["status"])

    def _state_text(self, job: JobDetail) -> str:
        return self._state(job) if has_ended(job) else state_text(job)

    def _has_ended(self, job: JobDetail) -> bool:
        return has_ended(job)

    def _progress_events(self, job: JobDetail) -> Iterator[Event]:
        if child_count(job):
            yield from self._retrying.best_effort(self._array.new_events(job))

    def _reports_reasons(self, job: JobDetail) -> bool:
        """Whether it has been RUNNABLE for too long; at once if it was submitted long ago and never ran."""
        if job["status"] != "RUNNABLE":
            return False
        waited = self.clock() - self._state_since
        if not (job.get("attempts") or job.get("dependsOn")):
            waited = max(waited, time.time() - float(job.get("createdAt") or time.time() * 1000) / 1000)
        return waited >= 60 * self.pending_minutes

    def _pending_reasons(self, job: JobDetail) -> Sequence[str]:
        return pending_reasons(self.jobs, job)

    def _reads_log(self, job: JobDetail) -> bool:
        return True

    def _log_events(self, job: JobDetail) -> Iterator[Event]:
        """What the job's containers have written since the last poll."""
        if not self._has_log(job):
            return
        for stream in self.jobs.log_streams(job):
            if stream.name not in self._streams and self._streams:
                yield Event(EventKind.NOTE, f"{self.name}: attempt {len(self._streams) + 1}")
            yield from self._line_events(self._streams.setdefault(stream.name, stream).new_lines())

    def _has_log(self, job: JobDetail) -> bool:
        return self._wants_log and not child_count(job)

    def _remaining_log_events(self, job: JobDetail) -> Iterator[Event]:
        """The log until it has been silent for long enough."""
        silent_since = self.clock()
        while self._has_log(job) and self.clock() - silent_since < self.drain:
            before = self._line_count
            yield from self._retrying.best_effort(self._log_events(job))
            if not self._streams and not self._retrying.best_effort_backoff.waiting:
                # It never ran.
                return
            if self._line_count > before or self._retrying.best_effort_backoff.waiting:
                silent_since = self.clock()
            self.backoff.sleep(min(1.0, self.drain / 4))

    def _end_events(self, job: JobDetail) -> Iterator[Event]:
        seconds = duration_seconds(job)
        if child_count(job):
            yield from (yield from self._retrying.retry(lambda: self._array.failure_events(job)))
            yield self._array.end_event(job, duration_text(seconds))
            return
        if job["status"] == "SUCCEEDED":
            yield succeeded_event(self.name, seconds)
            return
        code = yield from self._retrying.retry(lambda: container_exit_code(self.jobs.log_source(job)))
        yield failed_event(self.name, "failed", seconds, "container", code, reason_text(job))
