"""Jobs on AWS Batch, implementing gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code, error_message
from gpufleet.jobs.aws_batch.container_start import BucketFile
from gpufleet.jobs.aws_batch.definitions import find_definition, register_revision
from gpufleet.jobs.aws_batch.follow import AwsBatchJobFollower
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, job_summary, state_text
from gpufleet.jobs.aws_batch.latest_image import newest_images
from gpufleet.jobs.aws_batch.pending_reasons import pending_reasons
from gpufleet.jobs.aws_batch.secrets import put_secret, secret_arns
from gpufleet.jobs.aws_batch.settings import AwsBatchSettings
from gpufleet.jobs.aws_batch.status import (
    JobDetail,
    child_count,
    children_by_state,
    container_exit_code,
    has_ended,
)
from gpufleet.jobs.aws_batch.submission import AwsBatchSubmission, build_submission, select_definition
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event, EventKind
from gpufleet.jobs.follow import PENDING_MINUTES
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings, ownership_tags


class AwsBatchBackend:
    """One environment's jobs on AWS Batch.

    pending_minutes: after which a followed job that has no node yet says why.
    """

    waits_for_after = False
    process = "container"

    def __init__(self, settings: JobSettings, pending_minutes: float = PENDING_MINUTES) -> None:
        assert settings.batch is not None
        self._all = settings
        self._settings: AwsBatchSettings = settings.batch
        self._aws = AwsBatchClient(self._settings.region)
        self._jobs = AwsBatchJobs(self._aws, self._settings, settings.environment)
        self._runnable_minutes = pending_minutes
        self.where = self._jobs.where

    def build_submission(self, request: JobRequest) -> Submission:
        definition = find_definition(self._aws, select_definition(self._all, request), self._all.environment)
        image = self._image(request, definition)
        after = self._earlier(request["after"]) if "after" in request else None
        secrets = secret_arns(self._aws, self._all.environment, request.get("secrets", {}))
        payload = build_submission(self._all, request, definition, image, after, secrets)
        return Submission(payload.name, payload.document, payload.advice, payload)

    def submit(self, submission: Submission, note: Note) -> str:
        payload = submission.payload
        assert isinstance(payload, AwsBatchSubmission)
        earlier = self._jobs.find_or_none(payload.name)
        if earlier:
            raise UserError(
                f"{payload.name}: the name is already used by a job that is {earlier['status']}, and its outputs; "
                "give another --name"
            )
        for file in payload.uploads:
            self._put(payload.name, file)
        if payload.program:
            note(f"{payload.name}: {len(payload.program)} files sent to {self._settings.outputs(payload.name)}")
        arn = str(payload.definition["jobDefinitionArn"])
        if payload.register:
            arn = register_revision(self._aws, payload.register)
            note(f"{payload.name}: uses {arn.rpartition('/')[2]}, the stack's definition with another image or secrets")
        try:
            made = self._aws.call("batch", "submit_job", **payload.arguments, jobDefinition=arn)
        except UserError as error:
            if error_code(error) == "ClientException":
                raise UserError(f"{payload.name}: AWS Batch rejects the job: {error_message(error)}") from error
            raise
        return str(made["jobId"])

    def list_jobs(self) -> list[dict[str, object]]:
        return [job_summary(job) for job in self._jobs.list_jobs()]

    def size(self, job: Mapping[str, object]) -> str:
        for key in ("children", "nodes"):
            if job[key]:
                return f"{job[key]} {key}"
        return "1 node"

    def details(self, name: str) -> dict[str, object]:
        job = self._jobs.find(name)
        told = job_summary(job)
        waiting = pending_reasons(self._jobs, job) if job["status"] == "RUNNABLE" else []
        code = told["exitCode"]
        if has_ended(job) and code is None:
            code = container_exit_code(self._jobs.log_source(job))
        more = {"waiting": waiting, "exitCode": code, "outputs": self._settings.outputs(str(job["jobName"]))}
        return told | more | {"childrenByState": children_by_state(job)}

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        return AwsBatchJobFollower(self._jobs, name, resume, logs, self._runnable_minutes).events()

    def read_log(self, name: str) -> Iterator[Event]:
        job = self._jobs.find(name)
        if child_count(job):
            whose = f"the log of a child is that of {name}:INDEX"
            yield Event(EventKind.NOTE, f"{name}: is an array of {child_count(job)}; {whose}")
            return
        streams = self._jobs.log_streams(job)
        if not streams:
            yield Event(EventKind.NOTE, f"{name}: no container has started yet: {state_text(job)}")
        for stream in streams:
            for line in stream.new_lines():
                yield Event(EventKind.LINE, line)

    def cancel(self, name: str) -> str:
        job = self._jobs.find(name)
        if has_ended(job):
            return f"{name}: has already ended: {job['status']}"
        self._aws.call("batch", "terminate_job", jobId=job["jobId"], reason="gpufleet jobs cancel")
        return f"{name}: cancelled; its log and its outputs stay"

    def put_secret(self, name: str, value: str) -> str:
        return put_secret(self._aws, self._all.environment, ownership_tags(self._all), name, value)

    def _image(self, request: JobRequest, definition: Mapping[str, Any]) -> str:
        """The requested image; the definition's own if the environment has no repository and none is requested."""
        if "image" not in request and not self._all.repositories:
            container = (definition.get("containerProperties") or {}).get("image")
            ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or [{}]
            return str(container or (ranges[0].get("container") or {}).get("image"))
        return self._all.image(request.get("image"), self._pushed)

    def _pushed(self) -> dict[str, str]:
        return {name: image.pinned for name, image in newest_images(self._all.repositories).items()}

    def _earlier(self, name: str) -> JobDetail:
        job = self._jobs.find(name)
        if job["status"] == "FAILED":
            raise UserError(f"after={name}: that job has FAILED, and AWS Batch would fail one that comes after it, too")
        return job

    def _put(self, job: str, file: BucketFile) -> None:
        try:
            self._aws.call("s3", "put_object", Bucket=file.bucket, Key=file.key, Body=file.content)
        except UserError as error:
            raise UserError(f"{job}: s3://{file.bucket}/{file.key} cannot be written: {error}") from error
