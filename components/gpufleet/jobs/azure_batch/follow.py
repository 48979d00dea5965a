"""Follow a job on Azure Batch until it has ended: its states, why it does not start, its output, its tries."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gpufleet.jobs.azure_batch.blobs import Blobs
from gpufleet.jobs.azure_batch.entrypoint import EVICTED
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.jobs import AzureBatchJobs
from gpufleet.jobs.azure_batch.log_stream import LogFile
from gpufleet.jobs.azure_batch.pending_reasons import pending_reasons
from gpufleet.jobs.azure_batch.status import AzureBatchJob
from gpufleet.jobs.azure_batch.submission import STREAMS
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.durations import format_duration
from gpufleet.jobs.events import Event, Kind
from gpufleet.jobs.retrying import Retrying

WAITING_MINUTES = 10.0
"""How long a job may wait for nodes before one asks why: a formula looks every 5 minutes, a node takes as long."""

_GOES_ON = "the job goes on from its newest checkpoint"


@dataclass
class AzureBatchJobFollower:
    """One job, followed.

    resume: the command that follows it again. logs: whether the log is wanted. shortest, longest: seconds between two
    looks; they grow while nothing changes. waiting_minutes: after which one asks why.
    """

    jobs: AzureBatchJobs
    blobs: Blobs
    name: str
    resume: str
    logs: bool = True
    waiting_minutes: float = WAITING_MINUTES
    shortest: float = 1.0
    longest: float = 5.0
    patience: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic
    _said: list[str] = field(default_factory=list, init=False)
    _files: list[LogFile] = field(default_factory=list, init=False)
    _lines: int = field(default=0, init=False)
    _evicted: bool = field(default=False, init=False)
    """Whether the try that runs has said that one of its nodes was taken."""
    _asking: Retrying = field(init=False)

    def __post_init__(self) -> None:
        self._asking = Retrying("Azure", AzureBatchError, self.name, self.resume, self.patience)
        files = self.jobs.azure, self.blobs, self.jobs.settings, self.name
        self._files = [LogFile(*files, stream) for stream in STREAMS]

    def events(self) -> Iterator[Event]:
        """What happens, as it happens; END is the last.

        Errors: UserError when there is no such job, or Azure does not answer for too long.
        """
        before: AzureBatchJob | None = None
        since, pause = self.clock(), self.shortest
        while True:
            job = yield from self._asking.certain(self._now)
            if before is not None:
                yield from self._tries(before, job)
            if before is None or job.state != before.state:
                since, pause = self.clock(), self.shortest
                yield Event(Kind.STATE, f"{self.name}: {job.state if job.ended else job.described}")
            before = job
            for file in self._files:
                file.trying = job.node_id, job.retries
            if job.ended:
                break
            if job.waits and self._waits_long(job, since):
                yield from self._asking.aside(self._waiting(job))
            lines = self._lines
            if not job.waits:
                yield from self._asking.aside(self._log())
            pause = self.shortest if self._lines > lines else min(pause * 1.5, self.longest)
            self.patience.sleep(pause)
        yield from self._rest_of_log()
        yield from self._end(job)

    def _now(self) -> AzureBatchJob:
        return self.jobs.find(self.name)

    def _tries(self, before: AzureBatchJob, job: AzureBatchJob) -> Iterator[Event]:
        """What is to be said when a try has ended and another comes."""
        if job.retries > before.retries:
            # The try that has failed has left a copy of what it wrote last.
            yield from self._asking.aside(self._log(LogFile.copied))
            why = "a Spot node was taken by Azure" if self._evicted else "the last one failed"
            self._evicted = False
            yield Event(Kind.NOTE, f"{self.name}: try {job.retries + 1}: {why}; {_GOES_ON}")
        elif before.node_id and (job.waits or job.node_id != before.node_id) and not job.ended:
            why = yield from self._asking.certain(lambda: self._what_became_of(before))
            yield Event(Kind.NOTE, f"{self.name}: {why}; {_GOES_ON} when there is another")

    def _what_became_of(self, job: AzureBatchJob) -> str:
        node = self.jobs.azure.find("get_node", job.pool_id, job.node_id)
        spot = any(pool.spot and pool.pool_id == job.pool_id for pool in self.jobs.settings.pools.values())
        if spot and (node is None or node.get("state") == "preempted"):
            return f"its Spot node {job.node_id} was taken by Azure"
        return f"it has lost its node {job.node_id}" + (f", which is {node['state']}" if node else "")

    def _waits_long(self, job: AzureBatchJob, since: float) -> bool:
        """Whether it has been without nodes for too long; one that was submitted long ago, and never ran, at once."""
        waited = self.clock() - since
        if not (job.retries or job.requeues or job.node_id) and job.created:
            waited = max(waited, (datetime.now(UTC) - datetime.fromisoformat(job.created)).total_seconds())
        return waited >= 60 * self.waiting_minutes

    def _waiting(self, job: AzureBatchJob) -> Iterator[Event]:
        lines = pending_reasons(self.jobs.azure, self.jobs.settings, self.jobs.environment, job)
        if lines != self._said:
            self._said = lines
            yield from (Event(Kind.WAITING, f"{self.name}: waits: {line}") for line in lines)

    def _log(self, part: Callable[[LogFile], Iterator[str]] = LogFile.new) -> Iterator[Event]:
        """What the job has written since the last time."""
        if self.logs and not self._asking.given_up:
            for file in self._files:
                yield from self._events(part(file))

    def _events(self, lines: Iterator[str]) -> Iterator[Event]:
        for line in lines:
            self._lines += 1
            self._evicted = self._evicted or f"ends with code {EVICTED};" in line
            yield Event(Kind.LINE, line)

    def _rest_of_log(self) -> Iterator[Event]:
        """All that is left of it; it is whole by now."""
        while self.logs and not self._asking.given_up:
            yield from self._asking.aside(self._log(LogFile.rest))
            if not self._asking.beside.waiting:
                return

    def _end(self, job: AzureBatchJob) -> Iterator[Event]:
        took = "" if job.took_seconds is None else f" after {format_duration(job.took_seconds)}"
        if job.state == "succeeded":
            yield Event(Kind.END, f"{self.name}: succeeded{took}", 0)
            return
        said = ": ".join(each for each in (job.reason, job.message) if each)
        if job.exit_code == EVICTED and not said:
            said = "a Spot node was taken, and no try is left; submit it again with --retries 10"
        code = job.exit_code
        has = f"the task's exit code is {code}" if code is not None else "its task has no exit code"
        yield Event(Kind.END, f"{self.name}: failed{took}: {has}" + (f" ({said})" if said else ""), code or 1)
