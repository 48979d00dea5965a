"""Jobs of an environment's queue, by the names that people give them; AWS Batch itself knows them by ids."""

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code, error_message
from gpufleet.jobs.aws_batch.log_stream import AwsBatchLogStream
from gpufleet.jobs.aws_batch.settings import AwsBatchSettings
from gpufleet.jobs.aws_batch.status import (
    STATES,
    JobDetail,
    child_count,
    container_exit_code,
    has_ended,
    log_group_name,
    log_stream_names,
    main_node_index,
    multinode_count,
    reason_text,
    rfc3339,
)

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_PART = re.compile(r"(?P<job>[^:#]+)(?P<part>[:#]\d+)?")
_LISTED_SECONDS = 30 * 86400.0
"""How far back a listing reaches. Batch itself keeps jobs that have ended for 7 days and a little."""
_DESCRIBED = 100
"""Most jobs of one DescribeJobs."""


@dataclass(frozen=True)
class AwsBatchJobs:
    """The jobs of the environment's queues, and what else is asked of AWS about them."""

    aws: AwsBatchClient
    settings: AwsBatchSettings
    environment: str

    def find(self, name: str) -> dict[str, Any]:
        """The newest job of this name or id; NAME:7 is a child of an array, NAME#1 a node. Errors: UserError."""
        word = _PART.fullmatch(name)
        if word is None:
            raise UserError(f"{name}: is not a job name; write NAME, NAME:INDEX for a child, NAME#INDEX for a node")
        part = word["part"] or ""
        job_id = word["job"] if _ID.fullmatch(word["job"]) else self._id_of(word["job"])
        [job] = self.describe([f"{job_id}{part}"]) if job_id else [None]
        if job is None:
            raise UserError(
                f"{name}: job not found in {self.where}; AWS Batch forgets jobs some 7 days after their end; "
                f"see `gpufleet jobs list {self.environment}`"
            )
        return job

    def find_or_none(self, name: str) -> JobDetail | None:
        """The newest job of this name, as ListJobs tells it."""
        same = (each for each in self._list(filters=[{"name": "JOB_NAME", "values": [name]}]))
        # Batch's filter does not tell capital letters from small ones.
        mine = [each for each in same if each["jobName"] == name and _is_whole(each)]
        return max(mine, key=lambda job: int(job.get("createdAt") or 0), default=None)

    def list_jobs(self) -> list[dict[str, Any]]:
        """Every job, newest first; children and nodes are left out. Errors: UserError."""
        since = str(int(1000 * (time.time() - _LISTED_SECONDS)))
        found = self._list(filters=[{"name": "AFTER_CREATED_AT", "values": [since]}])
        return sorted(filter(_is_whole, found), key=lambda job: int(job.get("createdAt") or 0), reverse=True)

    def list_children(self, array: str, state: str) -> list[dict[str, Any]]:
        """The children of the array of this id that are in a state, in the order of their indices."""
        found = self.aws.ask("batch", "list_jobs", "jobSummaryList[]", arrayJobId=array, jobStatus=state)
        return sorted(found, key=child_index)

    def log_source(self, job: JobDetail) -> JobDetail:
        """The job whose container writes the job's log: of a multi-node job its main node."""
        if not multinode_count(job) or "#" in str(job["jobId"]):
            return job
        [main] = self.describe([f"{job['jobId']}#{main_node_index(job)}"])
        return main or job

    def log_streams(self, job: JobDetail) -> list[AwsBatchLogStream]:
        """The logs of a job's container, one for each attempt, the oldest first."""
        logged = self.log_source(job)
        group = log_group_name(logged) or log_group_name(job) or self.settings.log_group
        return [AwsBatchLogStream(self.aws, group, name) for name in log_stream_names(logged)]

    def describe(self, ids: Iterable[str]) -> list[dict[str, Any] | None]:
        """The jobs of these ids in detail, in their order; None for one that is not there."""
        wanted = list(ids)
        by_id = {job["jobId"]: job for job in self._described(wanted)}
        return [by_id.get(each) for each in wanted]

    def _described(self, ids: list[str]) -> Iterator[dict[str, Any]]:
        for start in range(0, len(ids), _DESCRIBED):
            yield from self.aws.call("batch", "describe_jobs", jobs=ids[start : start + _DESCRIBED]).get("jobs") or []

    def _id_of(self, name: str) -> str | None:
        job = self.find_or_none(name)
        return None if job is None else str(job["jobId"])

    def _list(self, **arguments: object) -> Iterator[dict[str, Any]]:
        for queue in self.settings.queues:
            try:
                yield from self.aws.ask("batch", "list_jobs", "jobSummaryList[]", jobQueue=queue, **arguments)
            except UserError as error:
                if error_code(error) == "ClientException":
                    raise self._no_queue(queue, error) from error
                raise

    def _no_queue(self, queue: str, error: Exception) -> UserError:
        return UserError(
            f"{self.environment}: queue={queue}: {error_message(error)} (in {self.settings.region} of the account in "
            "use); run `pulumi up`, or use the credentials of the environment's account"
        )

    @property
    def where(self) -> str:
        names = " and ".join(queue.rpartition("/")[2] for queue in self.settings.queues)
        return f"queue {names} of {self.settings.region}"


def child_index(child: JobDetail) -> int:
    """Which child of its array it is."""
    return int(str(child["jobId"]).rpartition(":")[2])


def job_summary(job: JobDetail) -> dict[str, object]:
    """The JSON summary of a job. Its keys do not change: scripts depend on them."""
    return {
        "name": str(job["jobName"]),
        "id": str(job["jobId"]),
        "state": str(job["status"]),
        "reason": str(job.get("statusReason") or ""),
        "message": str((job.get("container") or {}).get("reason") or ""),
        "children": child_count(job),
        "nodes": multinode_count(job),
        "created": rfc3339(job.get("createdAt")),
        "exitCode": container_exit_code(job) if has_ended(job) else None,
    }


def state_text(job: JobDetail) -> str:
    """Its state and the reason for it, for display."""
    said = reason_text(job)
    return f"{job['status']}" + (f" ({said})" if said else "")


def _is_whole(job: JobDetail) -> bool:
    """Whether it is neither an array's child nor a node: their ids have an index."""
    return bool(_ID.fullmatch(str(job["jobId"]))) and job["status"] in STATES
