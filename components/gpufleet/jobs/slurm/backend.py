"""Jobs on Slurm, implementing gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping

from gpufleet.errors import UserError
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings
from gpufleet.jobs.slurm.client import SlurmClient
from gpufleet.jobs.slurm.jobs import SlurmJobs
from gpufleet.jobs.slurm.pending_reasons import pending_reasons
from gpufleet.jobs.slurm.settings import SlurmSettings
from gpufleet.jobs.slurm.status import SlurmJob
from gpufleet.jobs.slurm.submission import SlurmSubmission, build_submission, job_json
from gpufleet.jobs.ssh.connection import SshError, SshUnreachable
from gpufleet.jobs.ssh.follow import SshJobFollower
from gpufleet.jobs.ssh.job_folders import OUTPUTS_FOLDER, JobFolders
from gpufleet.jobs.ssh.log_stream import SshLogStream
from gpufleet.jobs.ssh.secrets import put_secret


class SlurmBackend:
    """One environment's jobs on Slurm."""

    waits_for_after = False
    process = "job"

    def __init__(self, settings: JobSettings) -> None:
        assert settings.slurm is not None
        self._settings: SlurmSettings = settings.slurm
        self._environment = settings.environment
        target = self._settings.target
        self._folders = JobFolders(target.machine, target.directory, settings.environment)
        self._slurm = SlurmClient(target.machine)
        self._jobs = SlurmJobs(self._slurm, self._folders)
        self.where = self._folders.where

    def build_submission(self, request: JobRequest) -> Submission:
        payload = build_submission(self._settings, self._environment, request)
        return Submission(payload.name, payload.document, [], payload)

    def submit(self, submission: Submission, note: Note) -> str:
        payload = submission.payload
        assert isinstance(payload, SlurmSubmission)
        options = self._after(payload) if payload.after else []
        self._folders.create(payload.name, {"job.sh": payload.script, "job.json": job_json(payload)}, payload.program)
        try:
            return self._slurm.submit(self._folders.path(payload.name), options)
        except SshUnreachable as error:
            # It may have been submitted all the same: the folder knows then.
            raise UserError(
                f"{payload.name}: {error}; whether it was submitted, `gpufleet jobs status {self._environment} "
                f"{payload.name}` says"
            ) from error
        except SshError as error:
            self._folders.remove(payload.name)
            raise UserError(f"{payload.name}: not submitted: {error}") from error

    def list_jobs(self) -> list[dict[str, object]]:
        return [job.summary() for job in self._jobs.list_jobs()]

    def size(self, job: Mapping[str, object]) -> str:
        return "1 node" if job["nodes"] == 1 else f"{job['nodes']} nodes"

    def details(self, name: str) -> dict[str, object]:
        job = self._jobs.find(name)
        return job.summary() | {
            "waiting": self._pending_reasons(job),
            "outputs": f"{self._folders.path(name)}/{OUTPUTS_FOLDER}",
        }

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        tail = SshLogStream(self._folders, name)
        return SshJobFollower(
            "SlurmClient", name, resume, lambda: self._jobs.find(name), self._pending_reasons, tail, self.process, logs
        ).events()

    def read_log(self, name: str) -> Iterator[Event]:
        yield from SshLogStream(self._folders, name).events_until_now(self._jobs.find(name).state_text)

    def cancel(self, name: str) -> str:
        job = self._jobs.find(name)
        self._folders.check_owner(job.record)
        if not job.record.id:
            self._folders.remove(name)
            return f"{name}: was never submitted; its folder is removed"
        if job.ended:
            return f"{name}: has already ended: {job.state}"
        self._slurm.cancel(job.record.id)
        return f"{name}: cancelled; its log and its outputs stay in {self._folders.path(name)}"

    def put_secret(self, name: str, value: str) -> str:
        return put_secret(self._settings.target.machine, self._environment, name, value)

    def _pending_reasons(self, job: SlurmJob) -> list[str]:
        pool = self._settings.pools.get(job.record.pool)
        return pending_reasons(self._slurm, job, pool.partition if pool else job.record.pool)

    def _after(self, plan: SlurmSubmission) -> list[str]:
        """sbatch's options that have Slurm wait for another job; when that fails, the job is cancelled."""
        earlier = self._jobs.find(str(plan.after))
        if earlier.ended and not earlier.succeeded:
            raise UserError(
                f"{plan.name}: not submitted: {earlier.name}, which it comes after, has not succeeded: {earlier.state}"
            )
        # The controller soon forgets jobs that have ended, and would wait forever.
        return [] if earlier.ended else [f"--dependency=afterok:{earlier.record.id}", "--kill-on-invalid-dep=yes"]
