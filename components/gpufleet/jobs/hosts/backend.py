"""Jobs on plain hosts, as `gpufleet jobs` speaks to them: gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event
from gpufleet.jobs.hosts.head_node import HeadNode
from gpufleet.jobs.hosts.settings import HostsSettings
from gpufleet.jobs.hosts.status import HostJob
from gpufleet.jobs.hosts.submission import HostsSubmission, build_submission
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings
from gpufleet.jobs.ssh.connection import SshError, SshUnreachable
from gpufleet.jobs.ssh.follow import SshJobFollower
from gpufleet.jobs.ssh.job_folders import OUTPUTS, JobFolders
from gpufleet.jobs.ssh.log_stream import LogTail


@dataclass(frozen=True)
class _Submittable(Submission):
    hosts: HostsSubmission | None = None


class HostsBackend:
    """One environment's jobs on own servers without a scheduler."""

    waits_for_after = True
    process = "mpirun"

    def __init__(self, settings: JobSettings) -> None:
        assert settings.hosts is not None
        self._settings: HostsSettings = settings.hosts
        self._environment = settings.environment
        place = self._settings.place
        self._folders = JobFolders(place.machine, place.directory, settings.environment)
        self._head = HeadNode(place.machine, self._folders)
        self.where = self._folders.where

    def build_submission(self, request: JobRequest) -> Submission:
        plan = build_submission(self._settings, self._environment, request)
        return _Submittable(plan.name, plan.document, [], plan)

    def submit(self, plan: Submission, note: Note) -> str:
        assert isinstance(plan, _Submittable)
        assert plan.hosts is not None
        wanted = plan.hosts
        self._folders.make(wanted.name, {"job.sh": wanted.script, "job.json": wanted.recorded}, wanted.program)
        try:
            return self._head.start(wanted.name).partition(" ")[0]
        except SshUnreachable as error:
            # It may have been started all the same: the folder knows then.
            raise UserError(
                f"{error}; whether it was started, `gpufleet jobs status {self._environment} {wanted.name}` says"
            ) from error
        except SshError:
            self._folders.remove(wanted.name)
            raise

    def listed(self) -> list[dict[str, object]]:
        return [job.summary() for job in self._head.all()]

    def size(self, job: Mapping[str, object]) -> str:
        return "1 host" if job["nodes"] == 1 else f"{job['nodes']} hosts"

    def details(self, name: str) -> dict[str, object]:
        job = self._head.find(name)
        return job.summary() | {"waiting": self._holdups(job), "outputs": f"{self._folders.path(name)}/{OUTPUTS}"}

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        tail, where = LogTail(self._folders, name), self._settings.place.machine.where
        return SshJobFollower(
            where, name, resume, lambda: self._head.find(name), self._holdups, tail, self.process, logs
        ).events()

    def written_so_far(self, name: str) -> Iterator[Event]:
        yield from LogTail(self._folders, name).so_far(self._head.find(name).described)

    def cancel(self, name: str) -> str:
        job = self._head.find(name)
        if job.ended:
            return f"{name}: has ended already: {job.state}"
        self._head.end(job.record)
        return f"{name}: cancelled; its log and its outputs stay in {self._folders.path(name)}"

    def _holdups(self, job: HostJob) -> list[str]:
        """Who has the hosts."""
        if not job.waits:
            return []
        others = [each for each in self._head.all() if each.state == "running"]
        busy = [f"{each.name} has {each.described.partition(' on ')[2]}" for each in others]
        nodes = job.record.nodes
        wanted = f"{nodes} hosts at once are not free" if nodes > 1 else "no host is free"
        return [f"{wanted}; {', '.join(busy)}" if busy else f"{wanted}; another environment's jobs may have them"]
