"""The state of an MPIJob, from its conditions.

Source: kubeflow/mpi-operator, pkg/apis/kubeflow/v2beta1/types.go (JobConditionType).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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


def job_status(job: Mapping[str, Any]) -> JobStatus:
    """The status of an MPIJob object."""
    conditions = (job.get("status") or {}).get("conditions") or []
    true = {each.get("type"): each for each in conditions if each.get("status") == "True"}
    for state in _BY_WEIGHT:
        if state in true:
            found = true[state]
            said = (str(found.get(key) or "") for key in ("reason", "message", "lastTransitionTime"))
            return JobStatus(state, *said)
    made = str((job.get("metadata") or {}).get("creationTimestamp") or "")
    return JobStatus(JobState.SUBMITTED, since=made)


def worker_count(job: Mapping[str, Any]) -> int:
    """How many workers a MPIJob asks for."""
    replicas = (job.get("spec") or {}).get("mpiReplicaSpecs") or {}
    return int((replicas.get("Worker") or {}).get("replicas") or 0)


def container_exit_code(pod: Mapping[str, Any]) -> int | None:
    """The exit code of a pod's first container; None while it runs, or if unknown."""
    for container in (pod.get("status") or {}).get("containerStatuses") or []:
        ended = (container.get("state") or {}).get("terminated") or {}
        if "exitCode" in ended:
            return int(ended["exitCode"])
    return None
