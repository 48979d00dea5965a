"""Jobs on Slurm, as `gpufleet jobs` speaks to them: gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings
from gpufleet.jobs.slurm.client import Slurm
from gpufleet.jobs.slurm.jobs import SlurmJobs
from gpufleet.jobs.slurm.pending_reasons import pending_reasons
from gpufleet.jobs.slurm.settings import SlurmSettings
from gpufleet.jobs.slurm.status import SlurmJob
from gpufleet.jobs.slurm.submission import SlurmSubmission, build_submission, recorded
from gpufleet.jobs.ssh.connection import SshError, SshUnreachable
from gpufleet.jobs.ssh.follow import SshJobFollower
from gpufleet.jobs.ssh.job_folders import OUTPUTS, JobFolders
from gpufleet.jobs.ssh.log_stream import LogTail


@dataclass(frozen=True)
class _Submittable(Submission):
    slurm: SlurmSubmission | None = None


class SlurmBackend:
    """One environment's jobs on Slurm."""

    waits_for_after = False
    process = "job"

    def __init__(self, settings: JobSettings) -> None:
        assert settings.slurm is not None
        self._settings: SlurmSettings = settings.slurm
        self._environment = settings.environment
        place = self._settings.place
        self._folders = JobFolders(place.machine, place.directory, settings.environment)
        self._slurm = Slurm(place.machine)
        self._jobs = SlurmJobs(self._slurm, self._folders)
        self.where = self._folders.where

    def build_submission(self, request: JobRequest) -> Submission:
        plan = build_submission(self._settings, self._environment, request)
        return _Submittable(plan.name, plan.document, [], plan)

    def submit(self, plan: Submission, note: Note) -> str:
        assert isinstance(plan, _Submittable)
        assert plan.slurm is not None
        wanted = plan.slurm
        options = self._after(wanted) if wanted.after else []
        self._folders.make(wanted.name, {"job.sh": wanted.script, "job.json": recorded(wanted)}, wanted.program)
        try:
            return self._slurm.submit(self._folders.path(wanted.name), options)
        except SshUnreachable as error:
            # It may have been submitted all the same: the folder knows then.
            raise UserError(
                f"{wanted.name}: {error}; whether it was submitted, `gpufleet jobs status {self._environment} "
                f"{wanted.name}` says"
            ) from error
        except SshError as error:
            self._folders.remove(wanted.name)
            raise UserError(f"{wanted.name}: not submitted: {error}") from error

    def listed(self) -> list[dict[str, object]]:
        return [job.summary() for job in self._jobs.all()]

    def size(self, job: Mapping[str, object]) -> str:
        return "1 node" if job["nodes"] == 1 else f"{job['nodes']} nodes"

    def details(self, name: str) -> dict[str, object]:
        job = self._jobs.find(name)
        return job.summary() | {"waiting": self._holdups(job), "outputs": f"{self._folders.path(name)}/{OUTPUTS}"}

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        tail = LogTail(self._folders, name)
        return SshJobFollower(
            "Slurm", name, resume, lambda: self._jobs.find(name), self._holdups, tail, self.process, logs
        ).events()

    def written_so_far(self, name: str) -> Iterator[Event]:
        yield from LogTail(self._folders, name).so_far(self._jobs.find(name).described)

    def cancel(self, name: str) -> str:
        job = self._jobs.find(name)
        if not job.record.id:
            self._folders.remove(name)
            return f"{name}: was never submitted; its folder is removed"
        if job.ended:
            return f"{name}: has ended already: {job.state}"
        self._slurm.cancel(job.record.id)
        return f"{name}: cancelled; its log and its outputs stay in {self._folders.path(name)}"

    def _holdups(self, job: SlurmJob) -> list[str]:
        pool = self._settings.pools.get(job.record.pool)
        return pending_reasons(self._slurm, job, pool.partition if pool else job.record.pool)

    def _after(self, plan: SlurmSubmission) -> list[str]:
        """sbatch's options that have Slurm wait for another job; when that fails, the job is cancelled."""
        earlier = self._jobs.find(str(plan.after))
        if earlier.ended and not earlier.succeeded:
            raise UserError(
                f"{plan.name}: not submitted: {earlier.name}, which it comes after, has not succeeded: {earlier.state}"
            )
        # The controller soon forgets jobs that have ended, and would wait for ever.
        return [] if earlier.ended else [f"--dependency=afterok:{earlier.record.id}", "--kill-on-invalid-dep=yes"]
