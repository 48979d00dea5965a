"""Follow a job on AWS Batch until it has ended: its states, why it does not start, its log or its children."""

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from gpufleet.aws.client import AwsClientError
from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.array_jobs import Children
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, described
from gpufleet.jobs.aws_batch.log_stream import LogStream
from gpufleet.jobs.aws_batch.pending_reasons import pending_reasons
from gpufleet.jobs.aws_batch.status import (
    Job,
    children,
    ended,
    exit_code_of,
    took_seconds,
    why,
)
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.durations import format_duration
from gpufleet.jobs.events import Event, Kind
from gpufleet.jobs.retrying import Retrying

RUNNABLE_MINUTES = 10.0
"""How long a job may wait for a node before one asks why: an instance takes 4 minutes to come, seldom 10."""
DRAIN_SECONDS = 8.0
"""How long a log has to be silent after the job's end to count as read: the nodes' log driver sends at least every 5 s,
and what it has sent can be read a moment later."""


@dataclass
class AwsBatchJobFollower:
    """One job, followed.

    name: as the user gave it. resume: the command that follows it again. logs: whether the log is wanted. shortest,
    longest: seconds between two looks; they grow while nothing changes. runnable_minutes: after which one asks why.
    """

    jobs: AwsBatchJobs
    name: str
    resume: str
    logs: bool = True
    runnable_minutes: float = RUNNABLE_MINUTES
    shortest: float = 1.0
    longest: float = 5.0
    drain: float = DRAIN_SECONDS
    patience: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic
    _id: str = field(default="", init=False)
    _said: list[str] = field(default_factory=list, init=False)
    _streams: dict[str, LogStream] = field(default_factory=dict, init=False)
    _lines: int = field(default=0, init=False)
    _asking: Retrying = field(init=False)

    def __post_init__(self) -> None:
        self._asking = Retrying("AWS", AwsClientError, self.name, self.resume, self.patience)

    def events(self) -> Iterator[Event]:
        """What happens, as it happens; END is the last.

        Errors: UserError when there is no such job, or AWS does not answer for too long.
        """
        state, since, pause = "", self.clock(), self.shortest
        array = Children(self.jobs, self.name)
        while True:
            job = yield from self._look()
            if job["status"] != state:
                state, since, pause = job["status"], self.clock(), self.shortest
                yield Event(Kind.STATE, f"{self.name}: {state if ended(job) else described(job)}")
            if children(job):
                yield from self._asking.aside(array.changes(job))
            if ended(job):
                break
            if state == "RUNNABLE" and self._waits_long(job, since):
                yield from self._asking.aside(self._waiting(job))
            before = self._lines
            yield from self._asking.aside(self._log(job))
            pause = self.shortest if self._lines > before else min(pause * 1.5, self.longest)
            self.patience.sleep(pause)
        yield from self._rest_of_log(job)
        yield from self._end(job, array)

    def _look(self) -> Generator[Event, None, Job]:
        return (yield from self._asking.certain(self._now))

    def _now(self) -> Job:
        if not self._id:
            job = self.jobs.find(self.name)
            self._id = str(job["jobId"])
            return job
        [found] = self.jobs.describe([self._id])
        if found is None:
            raise UserError(f"{self.name}: AWS Batch does not know the job any more; see `gpufleet jobs list`")
        return found

    def _waits_long(self, job: Job, since: float) -> bool:
        """Whether it has been RUNNABLE for too long; one that was submitted long ago and never ran, at once."""
        waited = self.clock() - since
        if not (job.get("attempts") or job.get("dependsOn")):
            waited = max(waited, time.time() - float(job.get("createdAt") or time.time() * 1000) / 1000)
        return waited >= 60 * self.runnable_minutes

    def _waiting(self, job: Job) -> Iterator[Event]:
        lines = pending_reasons(self.jobs, job)
        if lines != self._said:
            self._said = lines
            yield from (Event(Kind.WAITING, f"{self.name}: waits: {line}") for line in lines)

    def _log(self, job: Job) -> Iterator[Event]:
        """What the job's containers have written since the last time."""
        if not self._wants_log(job):
            return
        for stream in self.jobs.streams(job):
            if stream.name not in self._streams and self._streams:
                yield Event(Kind.NOTE, f"{self.name}: attempt {len(self._streams) + 1}")
            for line in self._streams.setdefault(stream.name, stream).new():
                self._lines += 1
                yield Event(Kind.LINE, line)

    def _wants_log(self, job: Job) -> bool:
        return self.logs and not self._asking.given_up and not children(job)

    def _rest_of_log(self, job: Job) -> Iterator[Event]:
        """The log until it has been silent for long enough."""
        silent_since = self.clock()
        while self._wants_log(job) and self.clock() - silent_since < self.drain:
            before = self._lines
            yield from self._asking.aside(self._log(job))
            if not self._streams and not self._asking.beside.waiting:
                # It never ran.
                return
            if self._lines > before or self._asking.beside.waiting:
                silent_since = self.clock()
            self.patience.sleep(min(1.0, self.drain / 4))

    def _end(self, job: Job, array: Children) -> Iterator[Event]:
        seconds = took_seconds(job)
        took = "" if seconds is None else f" after {format_duration(seconds)}"
        if children(job):
            yield from (yield from self._asking.certain(lambda: array.failures(job)))
            yield array.end(job, took)
            return
        if job["status"] == "SUCCEEDED":
            yield Event(Kind.END, f"{self.name}: succeeded{took}", 0)
            return
        code = yield from self._asking.certain(lambda: exit_code_of(self.jobs.logged(job)))
        has = f"the container's exit code is {code}" if code is not None else "its container has no exit code"
        said = why(job)
        yield Event(Kind.END, f"{self.name}: failed{took}: {has}" + (f" ({said})" if said else ""), code or 1)
