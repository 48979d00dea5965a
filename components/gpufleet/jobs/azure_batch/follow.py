"""Follow a job on Azure Batch until it has ended: its states, why it does not start, its output, its tries."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gpufleet.jobs.azure_batch.blobs import JobBlobs
from gpufleet.jobs.azure_batch.entrypoint import EVICTED
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.jobs import AzureBatchJobs
from gpufleet.jobs.azure_batch.log_stream import AzureBatchLogStream
from gpufleet.jobs.azure_batch.pending_reasons import pending_reasons
from gpufleet.jobs.azure_batch.status import AzureBatchJob
from gpufleet.jobs.azure_batch.submission import LOG_FILES
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.follow import PENDING_MINUTES, JobFollower, failed_event, succeeded_event
from gpufleet.jobs.retrying import Retrying

_GOES_ON = "the job continues from its newest checkpoint"


@dataclass
class AzureBatchJobFollower(JobFollower[AzureBatchJob]):
    """One job, polled.

    pending_minutes: how long it may have no node before its pending reasons are reported.
    """

    jobs: AzureBatchJobs
    blobs: JobBlobs
    name: str
    resume: str
    logs: bool = True
    pending_minutes: float = PENDING_MINUTES
    shortest: float = 1.0
    longest: float = 5.0
    backoff: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic
    _files: list[AzureBatchLogStream] = field(default_factory=list, init=False)
    _evicted: bool = field(default=False, init=False)
    """Whether the current attempt has logged that one of its nodes was evicted."""

    def __post_init__(self) -> None:
        self._retrying = Retrying("Azure", AzureBatchError, self.name, self.resume, self.backoff)
        files = self.jobs.azure, self.blobs, self.jobs.settings, self.name
        self._files = [AzureBatchLogStream(*files, stream) for stream in LOG_FILES]

    def _fetch(self) -> AzureBatchJob:
        return self.jobs.find(self.name)

    def _state(self, job: AzureBatchJob) -> str:
        return job.state

    def _state_text(self, job: AzureBatchJob) -> str:
        return job.state if job.ended else job.state_text

    def _has_ended(self, job: AzureBatchJob) -> bool:
        return job.ended

    def _attempt_events(self, previous: AzureBatchJob, job: AzureBatchJob) -> Iterator[Event]:
        if job.retries > previous.retries:
            # The attempt that failed has uploaded a copy of what it wrote last.
            yield from self._retrying.best_effort(self._log(AzureBatchLogStream.uploaded_lines))
            why = "a Spot node was taken by Azure" if self._evicted else "the last one failed"
            self._evicted = False
            yield Event(EventKind.NOTE, f"{self.name}: try {job.retries + 1}: {why}; {_GOES_ON}")
        elif previous.node_id and (job.is_pending or job.node_id != previous.node_id) and not job.ended:
            why = yield from self._retrying.retry(lambda: self._lost_node_text(previous))
            yield Event(EventKind.NOTE, f"{self.name}: {why}; {_GOES_ON} when there is another")

    def _progress_events(self, job: AzureBatchJob) -> Iterator[Event]:
        for file in self._files:
            file.attempt = job.node_id, job.retries
        yield from ()

    def _lost_node_text(self, job: AzureBatchJob) -> str:
        node = self.jobs.azure.find("get_node", job.pool_id, job.node_id)
        spot = any(pool.spot and pool.pool_id == job.pool_id for pool in self.jobs.settings.pools.values())
        if spot and (node is None or node.get("state") == "preempted"):
            return f"its Spot node {job.node_id} was taken by Azure"
        return f"it has lost its node {job.node_id}" + (f", which is {node['state']}" if node else "")

    def _reports_reasons(self, job: AzureBatchJob) -> bool:
        """Whether it has had no node for too long; at once if it was submitted long ago and never ran."""
        if not job.is_pending:
            return False
        waited = self.clock() - self._state_since
        if not (job.retries or job.requeues or job.node_id) and job.created:
            waited = max(waited, (datetime.now(UTC) - datetime.fromisoformat(job.created)).total_seconds())
        return waited >= 60 * self.pending_minutes

    def _pending_reasons(self, job: AzureBatchJob) -> Sequence[str]:
        return pending_reasons(self.jobs.azure, self.jobs.settings, self.jobs.environment, job)

    def _reads_log(self, job: AzureBatchJob) -> bool:
        return not job.is_pending

    def _log_events(self, job: AzureBatchJob) -> Iterator[Event]:
        return self._log(AzureBatchLogStream.new_lines)

    def _log(self, read: Callable[[AzureBatchLogStream], Iterator[str]]) -> Iterator[Event]:
        if self._wants_log:
            for file in self._files:
                yield from self._line_events(read(file))

    def _line_events(self, lines: Iterator[str]) -> Iterator[Event]:
        for event in super()._line_events(lines):
            self._evicted = self._evicted or f"ends with code {EVICTED};" in event.text
            yield event

    def _remaining_log_events(self, job: AzureBatchJob) -> Iterator[Event]:
        """The rest of the log, which is complete by now."""
        return self._to_its_end(lambda: self._log(AzureBatchLogStream.remaining_lines))

    def _end_events(self, job: AzureBatchJob) -> Iterator[Event]:
        if job.state == "succeeded":
            yield succeeded_event(self.name, job.duration_seconds)
            return
        reason = ": ".join(each for each in (job.reason, job.message) if each)
        if job.exit_code == EVICTED and not reason:
            reason = "a Spot node was taken, and no try is left; submit it again with --retries 10"
        yield failed_event(self.name, "failed", job.duration_seconds, "task", job.exit_code, reason)
