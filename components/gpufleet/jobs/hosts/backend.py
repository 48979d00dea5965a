"""Jobs on plain hosts, implementing gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping

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
from gpufleet.jobs.ssh.job_folders import OUTPUTS_FOLDER, JobFolders
from gpufleet.jobs.ssh.log_stream import SshLogStream
from gpufleet.jobs.ssh.secrets import put_secret


class HostsBackend:
    """One environment's jobs on on-prem servers without a scheduler."""

    waits_for_after = True
    process = "launcher"

    def __init__(self, settings: JobSettings) -> None:
        assert settings.hosts is not None
        self._settings: HostsSettings = settings.hosts
        self._environment = settings.environment
        target = self._settings.target
        self._folders = JobFolders(target.machine, target.directory, settings.environment)
        self._head = HeadNode(target.machine, self._folders)
        self.where = self._folders.where

    def build_submission(self, request: JobRequest) -> Submission:
        payload = build_submission(self._settings, self._environment, request)
        return Submission(payload.name, payload.document, [], payload)

    def submit(self, submission: Submission, note: Note) -> str:
        payload = submission.payload
        assert isinstance(payload, HostsSubmission)
        self._folders.create(payload.name, {"job.sh": payload.script, "job.json": payload.recorded}, payload.program)
        try:
            return self._head.start(payload.name, payload.mpirun).partition(" ")[0]
        except SshUnreachable as error:
            # It may have been started all the same: the folder knows then.
            raise UserError(
                f"{error}; whether it was started, `gpufleet jobs status {self._environment} {payload.name}` says"
            ) from error
        except SshError:
            self._folders.remove(payload.name)
            raise

    def list_jobs(self) -> list[dict[str, object]]:
        return [job.summary() for job in self._head.list_jobs()]

    def size(self, job: Mapping[str, object]) -> str:
        return "1 host" if job["nodes"] == 1 else f"{job['nodes']} hosts"

    def details(self, name: str) -> dict[str, object]:
        job = self._head.find(name)
        return job.summary() | {
            "waiting": self._pending_reasons(job),
            "outputs": f"{self._folders.path(name)}/{OUTPUTS_FOLDER}",
        }

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        tail, where = SshLogStream(self._folders, name), self._settings.target.machine.where
        return SshJobFollower(
            where, name, resume, lambda: self._head.find(name), self._pending_reasons, tail, self.process, logs
        ).events()

    def read_log(self, name: str) -> Iterator[Event]:
        yield from SshLogStream(self._folders, name).events_until_now(self._head.find(name).state_text)

    def cancel(self, name: str) -> str:
        job = self._head.find(name)
        self._folders.check_owner(job.record)
        if job.ended:
            return f"{name}: has already ended: {job.state}"
        self._head.cancel(job.record)
        return f"{name}: cancelled; its log and its outputs stay in {self._folders.path(name)}"

    def put_secret(self, name: str, value: str) -> str:
        return put_secret(self._settings.target.machine, self._environment, name, value)

    def _pending_reasons(self, job: HostJob) -> list[str]:
        """The jobs that hold the hosts."""
        if not job.is_pending:
            return []
        others = [each for each in self._head.list_jobs() if each.state == "running"]
        busy = [f"{each.name} has {each.state_text.partition(' on ')[2]}" for each in others]
        nodes = job.record.nodes
        wanted = f"{nodes} hosts at once are not free" if nodes > 1 else "no host is free"
        return [f"{wanted}; {', '.join(busy)}" if busy else f"{wanted}; another environment's jobs may have them"]
