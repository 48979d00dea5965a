"""Reads the logs of a job's launchers or workers 0 to their end, in its own thread, across streams that break."""

import queue
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.kubernetes import api_paths
from gpufleet.jobs.kubernetes.api import KubernetesApi, KubernetesApiError, KubernetesBusy, KubernetesUnreachable
from gpufleet.jobs.kubernetes.job_kind import MPI_JOB, JobKind
from gpufleet.jobs.kubernetes.log_stream import KubernetesLogStream
from gpufleet.jobs.kubernetes.status import container_exit_code

IDLE_SECONDS = 120.0
"""A stream that was silent for so long is opened again: load balancers drop silent connections without a word (AWS's
Network Load Balancer after 350 s), and one that is dead cannot be told from one that is quiet."""
_QUEUE_LINES = 10_000
_STILL_UNREADABLE = 3
"""Tries at a log that the server cannot give, after the job has ended."""


class LogReader(threading.Thread):
    """events: LINE and NOTE, in order. It ends by itself when the job has ended and all of its logs are read."""

    def __init__(self, api: KubernetesApi, namespace: str, job: str, backoff: Backoff | None = None) -> None:
        super().__init__(name=f"log of {job}", daemon=True)
        self.events: queue.Queue[Event] = queue.Queue(_QUEUE_LINES)
        self._api, self._namespace, self._job = api, namespace, job
        self._kind = MPI_JOB
        self._patience = backoff or Backoff(first=0.2, longest=10.0)
        self._patience.sleep = self._sleep
        self._stopped = threading.Event()
        self._job_ended = threading.Event()
        self._read: set[str] = set()
        self._noted: set[str] = set()
        self._unreadable = 0

    def start_of(self, kind: JobKind) -> None:
        """Start to read, as a job of this kind."""
        self._kind = kind
        self.start()

    def stop(self) -> None:
        """Stop reading."""
        self._stopped.set()

    def job_ended(self) -> None:
        """The job has ended: read the rest of the log, then stop."""
        self._job_ended.set()

    def run(self) -> None:
        while not self._stopped.is_set():
            ended = self._job_ended.is_set()
            try:
                pod = self._next_launcher()
                if pod is not None:
                    self._read_pod(pod)
                    continue
            except KubernetesUnreachable as error:
                if not self._go_on_after(error):
                    return
                continue
            except KubernetesApiError as error:
                self._note(f"the {self._kind.process}'s log cannot be read: {error}")
                return
            if ended:
                return
            self._sleep(1.0)

    def _next_launcher(self) -> Mapping[str, Any] | None:
        """The oldest launcher whose log is not read yet. Every try of a job has its own pod."""
        selector = self._kind.selector(self._job, process=True)
        found = self._api.get(api_paths.core(self._namespace, "pods"), labelSelector=selector)
        unread = [pod for pod in found.get("items") or [] if pod["metadata"]["uid"] not in self._read]
        begun = [pod for pod in unread if (pod.get("status") or {}).get("phase") in ("Running", "Succeeded", "Failed")]
        return min(begun, key=lambda pod: str(pod["metadata"]["creationTimestamp"]), default=None)

    def _read_pod(self, pod: Mapping[str, Any]) -> None:
        """Read one pod's log to its end, across as many streams as it takes."""
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        if self._read:
            self._note(f"the {self._kind.process} was started again: {name}")
        tail = KubernetesLogStream()
        while not self._stopped.is_set():
            try:
                # Asked before the stream: what is written until the container's end is in what is read after.
                over = self._is_over(name, uid)
                self._stream(tail, name, follow=not over)
                if over:
                    for line in tail.finish():
                        self._put(Event(EventKind.LINE, line))
                    self._read.add(uid)
                    return
            except KubernetesUnreachable as error:
                if not self._go_on_after(error):
                    self._read.add(uid)
                    return
            except KubernetesApiError as error:
                # Its container has not written yet (400), or the pod is gone (404).
                if error.status == 400 and not self._job_ended.is_set():
                    self._sleep(1.0)
                    continue
                self._note(f"the log of {name} cannot be read: {error}")
                self._read.add(uid)
                return

    def _stream(self, tail: KubernetesLogStream, pod: str, *, follow: bool) -> None:
        tail.begin()
        path = api_paths.core(self._namespace, "pods", f"{pod}/log")
        query = {"follow": follow, "timestamps": True, "sinceTime": tail.since}
        with self._api.stream(path, IDLE_SECONDS, **query) as chunks:
            # A stream that opens works, however long its container has nothing to say.
            self._patience.worked()
            self._unreadable = 0
            for chunk in chunks:
                for line in tail.feed(chunk):
                    self._put(Event(EventKind.LINE, line))
                if self._stopped.is_set():
                    return

    def _is_over(self, pod: str, uid: str) -> bool:
        """Whether the container has ended, or its pod no longer exists."""
        found = self._api.find(api_paths.core(self._namespace, "pods", pod))
        if found is None or found["metadata"]["uid"] != uid:
            return True
        return container_exit_code(found) is not None or found["status"].get("phase") in ("Succeeded", "Failed")

    def _go_on_after(self, error: KubernetesUnreachable) -> bool:
        """A stream or a question failed. False: give up on this log."""
        if isinstance(error, KubernetesBusy):
            self._note(f"the {self._kind.process}'s log cannot be read now: {error}")
            self._unreadable += 1
            if self._job_ended.is_set() and self._unreadable >= _STILL_UNREADABLE:
                return False
        if self._patience.pause():
            return not self._stopped.is_set()
        self._note(f"the {self._kind.process}'s log is given up after {self._patience.limit:.0f} s: {error}")
        return False

    def _note(self, text: str) -> None:
        """Put a note once."""
        if text not in self._noted:
            self._noted.add(text)
            self._put(Event(EventKind.NOTE, text))

    def _put(self, event: Event) -> None:
        """Hand an event over; a terminal that is slow slows the reading down, not the memory up."""
        while not self._stopped.is_set():
            try:
                self.events.put(event, timeout=1.0)
            except queue.Full:
                continue
            return

    def _sleep(self, seconds: float) -> None:
        self._stopped.wait(seconds)


def read_log(api: KubernetesApi, namespace: str, job: str, kind: JobKind = MPI_JOB) -> Iterator[Event]:
    """What a job's launchers or workers 0 have written until now. Errors: UserError when a log cannot be read."""
    found = api.get(api_paths.core(namespace, "pods"), labelSelector=kind.selector(job, process=True))
    pods = sorted(found.get("items") or [], key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
    if not pods:
        yield Event(EventKind.NOTE, f"{job}: no {kind.process} has started yet")
    for pod in pods:
        name = pod["metadata"]["name"]
        tail = KubernetesLogStream()
        try:
            with api.stream(api_paths.core(namespace, "pods", f"{name}/log"), IDLE_SECONDS, timestamps=True) as chunks:
                for chunk in chunks:
                    yield from (Event(EventKind.LINE, line) for line in tail.feed(chunk))
        except KubernetesApiError as error:
            yield Event(EventKind.NOTE, f"the log of {name} cannot be read: {error}")
        yield from (Event(EventKind.LINE, line) for line in tail.finish())
