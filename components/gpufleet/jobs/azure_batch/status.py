"""The state of a job on Azure Batch, from its one task and what Batch says of the job itself.

Sources: azure.batch.models (BatchTaskState, BatchTaskExecutionInfo, BatchJobExecutionInfo); the SDK on terminating jobs
(tasks that have not started stay active).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

JsonObject = Mapping[str, Any]

_NO_NEWS = ("FailureExitCode",)
"""Codes that say no more than the exit code does.
Source: learn.microsoft.com/azure/batch/batch-job-task-error-checking."""


@dataclass(frozen=True)
class AzureBatchJob:
    """job, task: as Batch tells them; a job whose submission broke off has no task."""

    job: JsonObject
    task: JsonObject | None

    @property
    def name(self) -> str:
        return str(self.job["id"])

    @property
    def state(self) -> str:
        """active, preparing or running, as Batch says it; for completed: succeeded or failed."""
        if self.task is None:
            return "failed" if self._over else "active"
        if self.task["state"] == "completed":
            return "succeeded" if self._ran.get("result") == "success" else "failed"
        return "failed" if self._over else str(self.task["state"])

    @property
    def ended(self) -> bool:
        return self.state in ("succeeded", "failed")

    @property
    def is_pending(self) -> bool:
        """Whether it has no node yet, or none any more."""
        return self.state == "active" and self.task is not None

    @property
    def exit_code(self) -> int | None:
        """The exit code of the last try; None while it runs, or when there is none."""
        code = self._ran.get("exitCode")
        return None if code is None else int(code)

    @property
    def retries(self) -> int:
        """How often it has failed and was tried again."""
        return int(self._ran.get("retryCount") or 0)

    @property
    def requeues(self) -> int:
        """How often it has lost its node, of what every try may lose several."""
        return int(self._ran.get("requeueCount") or 0)

    @property
    def nodes(self) -> int:
        return int(((self.task or {}).get("multiInstanceSettings") or {}).get("numberOfInstances") or 1)

    @property
    def pool_id(self) -> str:
        return str((self.job.get("poolInfo") or {}).get("poolId") or "")

    @property
    def node_id(self) -> str:
        """The primary's node, empty where it has none."""
        return str(((self.task or {}).get("nodeInfo") or {}).get("nodeId") or "")

    @property
    def reason(self) -> str:
        """Why it has ended, but by its own exit code: Batch's code, and who has asked for it."""
        failure = self._ran.get("failureInfo") or {}
        code = str(failure.get("code") or "")
        asked = (self.job.get("executionInfo") or {}).get("terminateReason")
        by = str(asked) if asked and asked not in ("AllTasksComplete",) else ""
        return ": ".join(each for each in ("" if code in _NO_NEWS else code, by) if each)

    @property
    def message(self) -> str:
        """Batch's words to it, and the container's."""
        failure = self._ran.get("failureInfo") or {}
        if failure.get("code") in _NO_NEWS:
            failure = {}
        container = (self._ran.get("containerInfo") or {}).get("error")
        details = [f"{each.get('name')}: {each.get('value')}" for each in failure.get("details") or []]
        words = [str(each) for each in (failure.get("message"), *details, container) if each]
        return "; ".join(dict.fromkeys(" ".join(each.split()) for each in words))

    @property
    def duration_seconds(self) -> float | None:
        """From the start of the last try to its end; None when it never ran."""
        begun, ended = self._ran.get("startTime"), self._ran.get("endTime")
        if not begun or not ended:
            return None
        return (datetime.fromisoformat(ended) - datetime.fromisoformat(begun)).total_seconds()

    @property
    def times(self) -> tuple[object, object]:
        """Start and end of the last try, as Batch writes them; None where there is none."""
        return self._ran.get("startTime"), self._ran.get("endTime")

    @property
    def created(self) -> str:
        return str(self.job.get("creationTime") or "")

    @property
    def state_text(self) -> str:
        """Its state and the reason for it, for display."""
        said = ": ".join(each for each in (self.reason, self.message) if each)
        return self.state + (f" ({said})" if said else "")

    def summary(self) -> dict[str, object]:
        """The JSON summary. Its keys do not change: scripts depend on them."""
        return {
            "name": self.name,
            "id": self.name,
            "state": self.state,
            "reason": self.reason,
            "message": self.message,
            "nodes": self.nodes,
            "retries": self.retries,
            "requeues": self.requeues,
            "created": self.created,
            "exitCode": self.exit_code if self.ended else None,
        }

    @property
    def _ran(self) -> JsonObject:
        return (self.task or {}).get("executionInfo") or {}

    @property
    def _over(self) -> bool:
        """Whether the job starts no task any more."""
        return self.job["state"] in ("terminating", "completed", "deleting")
