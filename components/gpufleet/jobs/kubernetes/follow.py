"""Follow a job until it has ended: its states, what it waits for, and the log of its launcher or worker 0."""

import queue
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from gpufleet.durations import format_duration
from gpufleet.errors import UserError
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesObject, KubernetesUnreachable
from gpufleet.jobs.kubernetes.job_kind import kind_of
from gpufleet.jobs.kubernetes.jobs import look_up_job, process_exit_code
from gpufleet.jobs.kubernetes.log_reader import LogReader
from gpufleet.jobs.kubernetes.pending_reasons import pending_reasons
from gpufleet.jobs.kubernetes.status import JobState, JobStatus, job_status

DRAIN_SECONDS = 30.0
"""How long the log may be silent after the job's end before it counts as read."""


@dataclass
class KubernetesJobFollower:
    """One job, followed.

    resume: the command that follows it again, for messages. logs: whether its log is wanted. shortest,
    longest: seconds between two looks at the job; they grow while nothing changes.
    """

    api: KubernetesApi
    namespace: str
    name: str
    resume: str
    logs: bool = True
    shortest: float = 1.0
    longest: float = 5.0
    backoff: Backoff = field(default_factory=Backoff)
    clock: Callable[[], float] = time.monotonic
    _uid: str | None = field(default=None, init=False)
    _said: list[str] = field(default_factory=list, init=False)

    def events(self) -> Iterator[Event]:
        """What happens, as it happens; END is the last.

        Errors: UserError when the job is not there (any more), or the API server does not answer for too long.
        """
        reader = LogReader(self.api, self.namespace, self.name) if self.logs else None
        try:
            yield from self._events(reader)
        finally:
            if reader is not None:
                reader.stop()

    def _events(self, reader: LogReader | None) -> Iterator[Event]:
        known: JobStatus | None = None
        pause = self.shortest
        while True:
            looked = self._look()
            yield from looked.notes
            if looked.job is None:
                continue
            status = job_status(looked.job)
            if known is None or status.state is not known.state:
                known = status
                pause = self.shortest
                yield Event(EventKind.STATE, _described(self.name, status))
            if status.state.ended:
                break
            if self._waited(looked.pending_reasons):
                pause = self.shortest
                for line in looked.pending_reasons:
                    yield Event(EventKind.WAITING, line)
            if reader is not None and not reader.is_alive() and status.state is JobState.RUNNING and not reader.ident:
                reader.start_of(kind_of(looked.job))
            yield from self._lines(reader, pause)
            pause = min(pause * 1.5, self.longest)
        if reader is not None:
            if not reader.ident:
                reader.start_of(kind_of(looked.job))
            reader.job_ended()
            yield from self._last_lines(reader)
        yield from self._end(looked.job, status)

    def _look(self) -> "_Look":
        """The job now. Without an answer: a note, and after a pause another look. Errors: UserError, see events."""
        try:
            job = look_up_job(self.api, self.namespace, self.name)
            if job is not None and self._uid not in (None, job["metadata"]["uid"]):
                job = None
            if job is None:
                gone = "was deleted in the meantime" if self._uid else f"job not found in namespace {self.namespace}"
                raise UserError(f"{self.name}: {gone}; see `gpufleet jobs list`")
            state = job_status(job).state
            waiting = [] if state.ended or state is JobState.RUNNING else pending_reasons(self.api, job)
        except KubernetesUnreachable as error:
            first = not self.backoff.waiting
            if not self.backoff.pause():
                raise UserError(
                    f"{error}; gave up after {format_duration(self.backoff.limit)}, the job is not touched; "
                    f"continue with `{self.resume}`"
                ) from error
            limit = format_duration(self.backoff.limit)
            return _Look(notes=[Event(EventKind.NOTE, f"{error}; trying again for {limit}")] if first else [])
        self._uid = job["metadata"]["uid"]
        notes = [Event(EventKind.NOTE, f"{self.api.server} answers again")] if self.backoff.waiting else []
        self.backoff.worked()
        return _Look(job, waiting, notes)

    def _waited(self, lines: list[str]) -> bool:
        """Whether what the job waits for has changed; that none waits any more is in the state already."""
        changed = bool(lines) and lines != self._said
        self._said = lines
        return changed

    def _lines(self, reader: LogReader | None, seconds: float) -> Iterator[Event]:
        """What the reader has, for so many seconds."""
        end = self.clock() + seconds
        while (left := end - self.clock()) > 0:
            if reader is None:
                self.backoff.sleep(left)
                return
            try:
                yield reader.events.get(timeout=left)
            except queue.Empty:
                return

    def _last_lines(self, reader: LogReader) -> Iterator[Event]:
        """Everything that is still to come of the log."""
        quiet_since = self.clock()
        while reader.is_alive() or not reader.events.empty():
            try:
                event = reader.events.get(timeout=0.2)
            except queue.Empty:
                if self.clock() - quiet_since > DRAIN_SECONDS:
                    yield Event(EventKind.NOTE, f"the rest of the log does not come; see it with `{self.resume}`")
                    return
                continue
            quiet_since = self.clock()
            yield event

    def _end(self, job: KubernetesObject, status: JobStatus) -> Iterator[Event]:
        took = _took(job)
        if status.state is JobState.SUCCEEDED:
            yield Event(EventKind.END, f"{self.name}: succeeded{took}", 0)
            return
        code = self._exit_code(job)
        process = kind_of(job).process
        ended = f"the {process}'s exit code is {code}" if code else f"the {process} has no exit code"
        why = ": ".join(word for word in (status.reason, status.message) if word)
        yield Event(EventKind.END, f"{self.name}: failed{took}: {ended}" + (f" ({why})" if why else ""), code or 1)

    def _exit_code(self, job: KubernetesObject) -> int | None:
        try:
            return process_exit_code(self.api, job)
        except KubernetesUnreachable:
            return None


@dataclass
class _Look:
    job: KubernetesObject | None = None
    pending_reasons: list[str] = field(default_factory=list)
    notes: list[Event] = field(default_factory=list)


def _described(name: str, status: JobStatus) -> str:
    # Created and Running say nothing beyond their name; how it failed comes at the end, with the exit code.
    reason = status.message if status.state in (JobState.SUSPENDED, JobState.RESTARTING) and status.message else ""
    return f"{name}: {status.state.value}" + (f": {reason}" if reason else "")


def _took(job: KubernetesObject) -> str:
    status = job.get("status") or {}
    try:
        begun, ended = (datetime.fromisoformat(status[key]) for key in ("startTime", "completionTime"))
    except (KeyError, TypeError, ValueError):
        return ""
    return f" after {format_duration((ended - begun).total_seconds())}"
