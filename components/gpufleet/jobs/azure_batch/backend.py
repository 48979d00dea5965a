"""Jobs on Azure Batch, implementing gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.blobs import JobBlobs
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.follow import AzureBatchJobFollower
from gpufleet.jobs.azure_batch.jobs import AzureBatchJobs
from gpufleet.jobs.azure_batch.log_stream import AzureBatchLogStream
from gpufleet.jobs.azure_batch.pending_reasons import pending_reasons
from gpufleet.jobs.azure_batch.secrets import no_key_vault, put_secret
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings
from gpufleet.jobs.azure_batch.submission import LOG_FILES, AzureBatchSubmission, build_submission
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.follow import PENDING_MINUTES
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings, RecordedImages


class AzureBatchBackend:
    """One environment's jobs on Azure Batch.

    recorded: see `JobSettings.image`. pending_minutes: after which a followed job that has no node yet says why.
    """

    waits_for_after = True
    process = "task"

    def __init__(
        self, settings: JobSettings, recorded: RecordedImages | None = None, pending_minutes: float = PENDING_MINUTES
    ) -> None:
        assert settings.azure_batch is not None
        self._all = settings
        self._settings: AzureBatchSettings = settings.azure_batch
        self._azure = AzureBatchClient(self._settings)
        assert settings.storage is not None
        self._blobs = JobBlobs(settings.storage)
        self._jobs = AzureBatchJobs(self._azure, self._settings, settings.environment)
        self._recorded = recorded or dict
        self._waiting_minutes = pending_minutes
        self.where = self._jobs.where

    def build_submission(self, request: JobRequest) -> Submission:
        payload = build_submission(self._all, request, self._all.image(request.get("image"), self._recorded))
        return Submission(payload.name, payload.document, payload.advice, payload)

    def submit(self, submission: Submission, note: Note) -> str:
        payload = submission.payload
        assert isinstance(payload, AzureBatchSubmission)
        self._make_job(payload)
        try:
            for file in payload.program:
                name = f"{self._settings.folder(payload.name)}/{file.path}"
                self._blobs.put(self._settings.scripts, name, file.source)
            if payload.program:
                note(f"{payload.name}: {len(payload.program)} files sent to container {self._settings.scripts}")
            self._changing(payload.name, "create_task", "BatchTaskCreateOptions", payload.task)
            # From here on the job ends with its task.
            self._changing(payload.name, "update_job", "BatchJobUpdateOptions", {"onAllTasksComplete": "terminatejob"})
        except (UserError, KeyboardInterrupt) as error:
            self._take_back(payload.name, error)
            raise
        return payload.name

    def list_jobs(self) -> list[dict[str, object]]:
        return [job.summary() for job in self._jobs.list_jobs()]

    def size(self, job: Mapping[str, object]) -> str:
        return "1 node" if job["nodes"] == 1 else f"{job['nodes']} nodes"

    def details(self, name: str) -> dict[str, object]:
        job = self._jobs.find(name)
        waiting = pending_reasons(self._azure, self._settings, self._all.environment, job) if job.is_pending else []
        return job.summary() | {"waiting": waiting, "outputs": self._settings.outputs(job.name)}

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        minutes = self._waiting_minutes
        return AzureBatchJobFollower(self._jobs, self._blobs, name, resume, logs, pending_minutes=minutes).events()

    def read_log(self, name: str) -> Iterator[Event]:
        job = self._jobs.find(name)
        lines = 0
        for stream in LOG_FILES:
            file = AzureBatchLogStream(self._azure, self._blobs, self._settings, job.name, stream)
            for line in file.remaining_lines():
                lines += 1
                yield Event(EventKind.LINE, line)
        if not lines:
            yield Event(EventKind.NOTE, f"{name}: has written nothing yet: {job.state_text}")

    def cancel(self, name: str) -> str:
        job = self._jobs.find(name)
        if job.ended:
            return f"{name}: has already ended: {job.state}"
        self._azure.terminate_job(job.name, "gpufleet jobs cancel")
        return f"{name}: cancelled; its log and its outputs stay"

    def put_secret(self, name: str, value: str) -> str:
        if self._settings.key_vault is None:
            raise UserError(f"{name}: {no_key_vault(self._all.environment)}")
        return put_secret(self._settings.key_vault, name, value)

    def _make_job(self, wanted: AzureBatchSubmission) -> None:
        try:
            self._changing(wanted.name, "create_job", "BatchJobCreateOptions", wanted.job)
        except AzureBatchError as error:
            if error.code == "JobExists":
                earlier = self._jobs.find_or_none(wanted.name)
                state = f" that is {earlier.state}" if earlier else ""
                raise UserError(
                    f"{wanted.name}: the name is already used by a job{state}, and its outputs; give another --name"
                ) from error
            raise

    def _changing(self, name: str, call: str, model: str, body: Mapping[str, object]) -> None:
        ids = [] if call == "create_job" else [name]
        try:
            self._azure.call(call, *ids, model=model, body=body)
        except AzureBatchError as error:
            if error.status == 400:
                raise AzureBatchError(
                    f"{name}: Azure Batch rejects the job: {error.code}: {error.azure_message}",
                    400,
                    error.code,
                    error.azure_message,
                ) from error
            raise

    def _take_back(self, name: str, error: BaseException) -> None:
        """A job without its task would stay active forever, and its name taken."""
        try:
            self._azure.begin("begin_delete_job", name)
        except AzureBatchError as second:
            raise UserError(
                f"{error}; job {name} is left without its task: {second}; remove it with "
                f"`az batch job delete --job-id {name}`"
            ) from error
