"""The state of a job, from the conditions of its MPIJob or JobSet.

Sources: kubeflow/mpi-operator, pkg/apis/kubeflow/v2beta1/types.go (JobConditionType); kubernetes-sigs/jobset v0.12.0,
api/jobset/v1alpha2/jobset_types.go (JobSetConditionType, ReplicatedJobStatus).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from gpufleet.jobs.kubernetes.job_kind import JOB_SET, kind_of, part_of


class JobState(StrEnum):
    """SUBMITTED: the operator has not looked at it yet."""

    SUBMITTED = "Submitted"
    CREATED = "Created"
    SUSPENDED = "Suspended"
    RUNNING = "Running"
    RESTARTING = "Restarting"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"

    @property
    def ended(self) -> bool:
        return self in (JobState.SUCCEEDED, JobState.FAILED)


@dataclass(frozen=True)
class JobStatus:
    """since: RFC 3339, when it came to that; message: the operator's words, maybe empty."""

    state: JobState
    reason: str = ""
    message: str = ""
    since: str = ""


_BY_WEIGHT = (
    # What has ended stays so, whatever else still says True. Resumed jobs keep Suspended with status False.
    JobState.FAILED,
    JobState.SUCCEEDED,
    JobState.SUSPENDED,
    JobState.RESTARTING,
    JobState.RUNNING,
    JobState.CREATED,
)

_SAME = {"Completed": JobState.SUCCEEDED}
"""What JobSet calls otherwise."""


def job_status(job: Mapping[str, Any]) -> JobStatus:
    """The status of an MPIJob or a JobSet."""
    conditions = (job.get("status") or {}).get("conditions") or []
    true = {_SAME.get(each.get("type"), each.get("type")): each for each in conditions if each.get("status") == "True"}
    for state in _BY_WEIGHT:
        if state in true:
            found = true[state]
            said = (str(found.get(key) or "") for key in ("reason", "message", "lastTransitionTime"))
            return JobStatus(state, *said)
    made = str((job.get("metadata") or {}).get("creationTimestamp") or "")
    if kind_of(job) is JOB_SET and job.get("status"):
        return _of_workers(job, made)
    return JobStatus(JobState.SUBMITTED, since=made)


def _of_workers(job: Mapping[str, Any], made: str) -> JobStatus:
    """A JobSet's conditions say nothing of its start: all of its workers are ready, or are still to come.

    since: when it left its queue, or was made.
    """
    status = job["status"]
    since = max([made, *(str(each.get("lastTransitionTime") or "") for each in status.get("conditions") or [])])
    if any(each.get("ready") for each in status.get("replicatedJobsStatus") or []):
        return JobStatus(JobState.RUNNING, since=since)
    if restarts := status.get("restarts"):
        most = part_of(job, ("failurePolicy", "maxRestarts")) or 0
        return JobStatus(JobState.RESTARTING, message=f"retry {restarts} of {most}", since=since)
    return JobStatus(JobState.CREATED, since=since)


def worker_count(job: Mapping[str, Any]) -> int:
    """How many workers a job asks for."""
    return int(part_of(job, kind_of(job).workers) or 0)


def container_exit_code(pod: Mapping[str, Any]) -> int | None:
    """The exit code of a pod's first container; None while it runs, or if unknown."""
    for container in (pod.get("status") or {}).get("containerStatuses") or []:
        ended = (container.get("state") or {}).get("terminated") or {}
        if "exitCode" in ended:
            return int(ended["exitCode"])
    return None
