"""The state of a job on AWS Batch, from DescribeJobs and ListJobs.

Sources: botocore's model of batch (JobDetail, JobSummary); docs.aws.amazon.com/batch/latest/userguide/job_states.html.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

JobDetail = Mapping[str, Any]

STATES = ("SUBMITTED", "PENDING", "RUNNABLE", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
"""In the order in which a job goes through them; a job that is tried again returns to RUNNABLE."""
_ENDED = ("SUCCEEDED", "FAILED")
_NO_NEWS = "Essential container in task exited"
"""Batch's reason for every container that has ended by itself."""


def has_ended(job: JobDetail) -> bool:
    return job["status"] in _ENDED


def container_exit_code(job: JobDetail) -> int | None:
    """The exit code of the job's container, of the last attempt; None while it runs, or when there is none."""
    for container in [job.get("container"), *_attempted(job)[::-1]]:
        if container and container.get("exitCode") is not None:
            return int(container["exitCode"])
    return None


def reason_text(job: JobDetail) -> str:
    """Batch's reasons for the job's state and its last container; empty if they add nothing."""
    attempts = job.get("attempts") or []
    last = attempts[-1] if attempts else {}
    said = job.get("statusReason") or last.get("statusReason")
    of_container = (job.get("container") or {}).get("reason") or (last.get("container") or {}).get("reason")
    words = [" ".join(str(word).split()) for word in (said, of_container) if word and word != _NO_NEWS]
    return ": ".join(dict.fromkeys(words))


def log_stream_names(job: JobDetail) -> list[str]:
    """The log streams of all attempts, the oldest first."""
    named = [str(each["logStreamName"]) for each in _attempted(job) if each.get("logStreamName")]
    current = (job.get("container") or {}).get("logStreamName")
    return list(dict.fromkeys([*named, *([str(current)] if current else [])]))


def log_group_name(job: JobDetail) -> str | None:
    """The log group that the job's definition names; None where it names none."""
    ranges = (job.get("nodeProperties") or {}).get("nodeRangeProperties") or []
    for container in [job.get("container") or {}, *(each.get("container") or {} for each in ranges)]:
        group = ((container.get("logConfiguration") or {}).get("options") or {}).get("awslogs-group")
        if group:
            return str(group)
    return None


def child_count(job: JobDetail) -> int:
    """How many children an array has; 0 for any other job, an array's child too."""
    return int((job.get("arrayProperties") or {}).get("size") or 0)


def children_by_state(job: JobDetail) -> dict[str, int]:
    """How many of an array's children are in which state, those in none left out."""
    summary = (job.get("arrayProperties") or {}).get("statusSummary") or {}
    return {state: int(summary[state]) for state in STATES if summary.get(state)}


def multinode_count(job: JobDetail) -> int:
    """How many nodes a multi-node job has; 0 for any other."""
    return int((job.get("nodeProperties") or {}).get("numNodes") or 0)


def main_node_index(job: JobDetail) -> int:
    """The index of a multi-node job's main node."""
    return int((job.get("nodeProperties") or {}).get("mainNode") or 0)


def rfc3339(milliseconds: object) -> str:
    """Batch's times as RFC 3339; empty for none."""
    if not isinstance(milliseconds, int | float) or milliseconds <= 0:
        return ""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="seconds")


def duration_seconds(job: JobDetail) -> float | None:
    """From the start of the last attempt to the job's end; None when it never ran."""
    begun, stopped = job.get("startedAt"), job.get("stoppedAt")
    return (float(stopped) - float(begun)) / 1000 if begun and stopped else None


def _attempted(job: JobDetail) -> list[dict[str, Any]]:
    return [dict(attempt.get("container") or {}) for attempt in job.get("attempts") or []]
