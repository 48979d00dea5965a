"""Jobs on AWS Batch, as `gpufleet jobs` speaks to them: gpufleet.jobs.backend.Backend."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, code_of, words_of
from gpufleet.jobs.aws_batch.definitions import found_definition, registered
from gpufleet.jobs.aws_batch.follow import RUNNABLE_MINUTES, AwsBatchJobFollower
from gpufleet.jobs.aws_batch.jobs import AwsBatchJobs, described, summary
from gpufleet.jobs.aws_batch.latest_image import newest_images
from gpufleet.jobs.aws_batch.pending_reasons import pending_reasons
from gpufleet.jobs.aws_batch.settings import BatchSettings
from gpufleet.jobs.aws_batch.status import children, counts, ended, exit_code_of
from gpufleet.jobs.aws_batch.submission import AwsBatchSubmission, build_submission, definition_of
from gpufleet.jobs.backend import Note, Submission
from gpufleet.jobs.events import Event, Kind
from gpufleet.jobs.request import JobRequest
from gpufleet.jobs.settings import JobSettings


@dataclass(frozen=True)
class _Submittable(Submission):
    batch: AwsBatchSubmission | None = None


class BatchBackend:
    """One environment's jobs on AWS Batch.

    runnable_minutes: after which a followed job that has no node yet says why.
    """

    waits_for_after = False
    process = "container"

    def __init__(self, settings: JobSettings, runnable_minutes: float = RUNNABLE_MINUTES) -> None:
        assert settings.batch is not None
        self._all = settings
        self._settings: BatchSettings = settings.batch
        self._aws = AwsBatchClient(self._settings.region)
        self._jobs = AwsBatchJobs(self._aws, self._settings, settings.environment)
        self._runnable_minutes = runnable_minutes
        self.where = self._jobs.where

    def build_submission(self, request: JobRequest) -> Submission:
        definition = found_definition(self._aws, definition_of(self._all, request), self._all.environment)
        image = self._image(request, definition)
        after = self._earlier(request["after"]) if "after" in request else None
        plan = build_submission(self._all, request, definition, image, after)
        return _Submittable(plan.name, plan.document, plan.advice, plan)

    def submit(self, plan: Submission, note: Note) -> str:
        assert isinstance(plan, _Submittable)
        assert plan.batch is not None
        wanted = plan.batch
        earlier = self._jobs.has(plan.name)
        if earlier:
            raise UserError(
                f"{plan.name}: the name is taken by a job that is {earlier['status']}, and its outputs; give another "
                "--name"
            )
        if wanted.upload:
            self._put(plan.name, *wanted.upload)
        arn = str(wanted.definition["jobDefinitionArn"])
        if wanted.register:
            arn = registered(self._aws, wanted.register)
            note(f"{plan.name}: uses {arn.rpartition('/')[2]}, the stack's definition with another image")
        try:
            made = self._aws.do("batch", "submit_job", **wanted.arguments, jobDefinition=arn)
        except UserError as error:
            if code_of(error) == "ClientException":
                raise UserError(f"{plan.name}: AWS Batch refuses the job: {words_of(error)}") from error
            raise
        return str(made["jobId"])

    def listed(self) -> list[dict[str, object]]:
        return [summary(job) for job in self._jobs.all()]

    def size(self, job: Mapping[str, object]) -> str:
        for key in ("children", "nodes"):
            if job[key]:
                return f"{job[key]} {key}"
        return "1 node"

    def details(self, name: str) -> dict[str, object]:
        job = self._jobs.find(name)
        told = summary(job)
        waiting = pending_reasons(self._jobs, job) if job["status"] == "RUNNABLE" else []
        code = told["exitCode"]
        if ended(job) and code is None:
            code = exit_code_of(self._jobs.logged(job))
        more = {"waiting": waiting, "exitCode": code, "outputs": self._settings.outputs(str(job["jobName"]))}
        return told | more | {"childrenByState": counts(job)}

    def follow(self, name: str, resume: str, *, logs: bool) -> Iterator[Event]:
        return AwsBatchJobFollower(self._jobs, name, resume, logs, self._runnable_minutes).events()

    def written_so_far(self, name: str) -> Iterator[Event]:
        job = self._jobs.find(name)
        if children(job):
            whose = f"the log of a child is that of {name}:INDEX"
            yield Event(Kind.NOTE, f"{name}: is an array of {children(job)}; {whose}")
            return
        streams = self._jobs.streams(job)
        if not streams:
            yield Event(Kind.NOTE, f"{name}: no container has started yet: {described(job)}")
        for stream in streams:
            for line in stream.new():
                yield Event(Kind.LINE, line)

    def cancel(self, name: str) -> str:
        job = self._jobs.find(name)
        if ended(job):
            return f"{name}: has ended already: {job['status']}"
        self._aws.do("batch", "terminate_job", jobId=job["jobId"], reason="gpufleet jobs cancel")
        return f"{name}: cancelled; its log and its outputs stay"

    def _image(self, request: JobRequest, definition: Mapping[str, Any]) -> str:
        """The wanted image; the definition's own, where the environment has no repository and nobody says another."""
        if "image" not in request and not self._all.repositories:
            container = (definition.get("containerProperties") or {}).get("image")
            ranges = (definition.get("nodeProperties") or {}).get("nodeRangeProperties") or [{}]
            return str(container or (ranges[0].get("container") or {}).get("image"))
        return self._all.image(request.get("image"), self._pushed)

    def _pushed(self) -> dict[str, str]:
        return {name: image.pinned for name, image in newest_images(self._all.repositories).items()}

    def _earlier(self, name: str) -> str:
        job = self._jobs.find(name)
        if job["status"] == "FAILED":
            raise UserError(f"after={name}: that job has FAILED, and AWS Batch would fail one that comes after it, too")
        return str(job["jobId"])

    def _put(self, job: str, key: str, text: str) -> None:
        try:
            self._aws.do("s3", "put_object", Bucket=self._settings.bucket, Key=key, Body=text.encode())
        except UserError as error:
            raise UserError(f"{job}: its parameters cannot be written to the bucket: {error}") from error
