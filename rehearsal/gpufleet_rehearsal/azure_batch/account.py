"""What an account of Azure Batch holds, and what it refuses: pools, nodes with files, and jobs of one task.

It moves nothing on by itself: tests do so (tests/tools/batch_account.py), or simulated time (played_nodes.py). No
container runs. Sources: learn.microsoft.com/rest/api/batchservice (operations, states, batch-status-and-error-codes);
the SDK's docstrings on resizing (409 unless steady), on automatic scaling (no other pool's formula is evaluated) and on
jobs without tasks (which onAllTasksComplete ends at once).
"""

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from gpufleet_rehearsal.azure_batch.formula import Samples
from gpufleet_rehearsal.azure_batch.formula import evaluate as evaluate_formula
from gpufleet_rehearsal.azure_batch.formula_values import FormulaError

Data = dict[str, Any]
"""JSON of Batch's REST API."""

KINDS = ("DedicatedNodes", "LowPriorityNodes")
"""The two kinds of nodes, as the ends of Batch's words for their numbers."""
STREAMS = ("stdout.txt", "stderr.txt")


class BatchRejection(Exception):
    """An answer of Batch's that is an error. values: (key, value) pairs of its details."""

    def __init__(self, status: int, code: str, words: str = "", *values: tuple[str, str]) -> None:
        super().__init__(code)
        self.status, self.code = status, code
        self.words = words or "Words of Batch."
        self.values = values


def stamp(ago: float = 0.0) -> str:
    """The present moment, or one so many seconds ago, in Batch's form."""
    return (datetime.now(UTC) - timedelta(seconds=ago)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class BatchAccount:
    """files: content and time of creation by job and name. page: most things of one answer."""

    url: str = ""
    pools: dict[str, Data] = field(default_factory=dict)
    nodes: dict[str, list[Data]] = field(default_factory=dict)
    jobs: dict[str, Data] = field(default_factory=dict)
    tasks: dict[str, Data] = field(default_factory=dict)
    files: dict[tuple[str, str], tuple[bytes, float]] = field(default_factory=dict)
    page: int = 100

    def asks(self, method: str, path: str, body: Any) -> None:  # noqa: ANN401
        """A client's request, before it is answered. Errors: BatchRejection where it is not answered."""

    # What nodes do.

    def add_pool(self, name: str, **more: Any) -> Data:  # noqa: ANN401
        """A steady pool without nodes. more: properties of BatchPool."""
        pool = {
            "id": name,
            "state": "active",
            "allocationState": "steady",
            "vmSize": "standard_nc64as_t4_v3",
            "currentDedicatedNodes": 0,
            "currentLowPriorityNodes": 0,
            "targetDedicatedNodes": 0,
            "targetLowPriorityNodes": 0,
            "enableAutoScale": False,
            "enableInterNodeCommunication": True,
            "taskSlotsPerNode": 1,
            **more,
        }
        self.pools[name], self.nodes[name] = pool, []
        return pool

    def add_node(self, pool: str, node: str, state: str = "idle", **more: Any) -> Data:  # noqa: ANN401
        """A node of a pool. more: properties of BatchNode."""
        made = {"id": node, "state": state, "schedulingState": "enabled", "isDedicated": False, **more}
        self.nodes[pool].append(made)
        return made

    def starts(self, job: str, node: str = "node-0") -> None:
        """A try of a job's task begins on a node: its files are made again."""
        task = self.tasks[job]
        pool = self.jobs[job]["poolInfo"]["poolId"]
        task["state"] = "running"
        task["nodeInfo"] = {"poolId": pool, "nodeId": node}
        task.setdefault("executionInfo", {"retryCount": 0, "requeueCount": 0})["startTime"] = stamp()
        for stream in STREAMS:
            self.files[job, stream] = (b"", time.time())

    def writes(self, job: str, text: str, stream: str = "stdout.txt") -> None:
        """The task writes to a stream."""
        content, made = self.files[job, stream]
        self.files[job, stream] = (content + text.encode(), made)

    def forgets_files(self, job: str) -> None:
        """The files of a job go with its node."""
        self.files = {key: content for key, content in self.files.items() if key[0] != job}

    def ends(self, job: str, code: int | None = 0, failure: Data | None = None) -> None:
        """The task ends. code: its exit code; None with a failure that is not an exit."""
        task = self.tasks[job]
        ran = task.setdefault("executionInfo", {"retryCount": 0, "requeueCount": 0, "startTime": stamp()})
        ran |= {"endTime": stamp(), "result": "success" if code == 0 else "failure"}
        if code is not None:
            ran["exitCode"] = code
        if code != 0:
            ran["failureInfo"] = failure or {
                "category": "usererror",
                "code": "FailureExitCode",
                "message": "The task exited with an exit code representing a failure",
            }
        task["state"] = "completed"
        self.complete(job)

    # What Batch answers.

    def pool(self, name: str) -> Data:
        """Errors of this and all below: BatchRejection."""
        if name not in self.pools:
            raise BatchRejection(404, "PoolNotFound", "The specified pool does not exist.")
        return self.pools[name]

    def job(self, name: str) -> Data:
        if name not in self.jobs:
            raise BatchRejection(404, "JobNotFound", "The specified job does not exist.")
        return self.jobs[name]

    def task(self, job: str, task: str) -> Data:
        self.job(job)
        if job not in self.tasks or self.tasks[job]["id"] != task:
            raise BatchRejection(404, "TaskNotFound", "The specified task does not exist.")
        return self.tasks[job]

    def get_pool(self, name: str) -> Data:
        return self.pool(name)

    def get_nodes(self, pool: str) -> list[Data]:
        self.pool(pool)
        return self.nodes[pool]

    def get_jobs(self) -> list[Data]:
        return list(self.jobs.values())

    def get_node(self, pool: str, node: str) -> Data:
        self.pool(pool)
        found = [each for each in self.nodes[pool] if each["id"] == node]
        if not found:
            raise BatchRejection(404, "NodeNotFound", "The specified node does not exist.")
        return found[0]

    def add_job(self, body: Data) -> None:
        if body["id"] in self.jobs:
            raise BatchRejection(409, "JobExists", "The specified job already exists.")
        self.pool(body["poolInfo"]["poolId"])
        over = body.get("onAllTasksComplete") == "terminatejob"
        self.jobs[body["id"]] = {
            **body,
            "state": "completed" if over else "active",
            "creationTime": stamp(),
            "executionInfo": {"startTime": stamp(), **({"terminateReason": "AllTasksComplete"} if over else {})},
        }

    def change_job(self, name: str, body: Data) -> None:
        if self.job(name)["state"] == "completed":
            raise BatchRejection(409, "JobCompleted", "The specified job is already in a completed state.")
        self.jobs[name] |= body
        self.complete(name)

    def delete_job(self, name: str) -> None:
        self.job(name)
        self.jobs.pop(name)
        self.tasks.pop(name, None)

    def terminate_job(self, name: str, body: Data | None) -> None:
        job = self.job(name)
        if job["state"] == "completed":
            raise BatchRejection(409, "JobCompleted", "The specified job is already in a completed state.")
        reason = (body or {}).get("terminateReason", "UserTerminate")
        # The task's end must not count as the job's own.
        job["onAllTasksComplete"] = "noaction"
        if self.tasks.get(name, {}).get("state") in ("running", "preparing"):
            words = "Task Was Ended by User Request"
            self.ends(name, None, {"category": "usererror", "code": "TaskEnded", "message": words})
        job |= {"state": "completed"}
        job["executionInfo"] |= {"endTime": stamp(), "terminateReason": reason}

    def add_task(self, name: str, body: Data) -> None:
        if self.job(name)["state"] != "active":
            raise BatchRejection(409, "JobCompleted", "The specified job is already in a completed state.")
        if name in self.tasks:
            raise BatchRejection(409, "TaskExists", "The specified task already exists.")
        ran = {"retryCount": 0, "requeueCount": 0}
        self.tasks[name] = {**body, "state": "active", "creationTime": stamp(), "executionInfo": ran}

    def resize(self, name: str, body: Data) -> None:
        pool = self.pool(name)
        if pool["allocationState"] != "steady":
            raise BatchRejection(409, "PoolBeingResized", "The specified pool is being resized.")
        if pool["enableAutoScale"]:
            raise BatchRejection(409, "OperationNotValidOnPool", "The pool is configured for automatic scaling.")
        pool["targetDedicatedNodes"] = body.get("targetDedicatedNodes", pool["targetDedicatedNodes"])
        pool["targetLowPriorityNodes"] = body.get("targetLowPriorityNodes", pool["targetLowPriorityNodes"])
        pool["allocationState"] = "resizing"
        pool.pop("resizeErrors", None)

    def disable_autoscale(self, name: str) -> None:
        pool = self.pool(name)
        pool["enableAutoScale"] = False
        pool.pop("autoScaleFormula", None)
        pool.pop("autoScaleRun", None)

    def enable_autoscale(self, name: str, body: Data) -> None:
        pool = self.pool(name)
        if "autoScaleFormula" not in body and not pool["enableAutoScale"]:
            raise BatchRejection(400, "MissingRequiredProperty", "", ("PropertyName", "autoScaleFormula"))
        formula = str(body.get("autoScaleFormula") or pool.get("autoScaleFormula"))
        run = self.evaluate(pool, formula)
        if "error" in run:
            raise BatchRejection(400, "InvalidAutoScalingSettings", run["error"]["message"])
        pool |= {"enableAutoScale": True, "autoScaleFormula": formula, "autoScaleRun": run}

    def evaluate_autoscale(self, name: str, body: Data) -> Data:
        pool = self.pool(name)
        if not pool["enableAutoScale"]:
            raise BatchRejection(409, "OperationNotValidOnPool", "The pool is not configured for automatic scaling.")
        return self.evaluate(pool, body["autoScaleFormula"])

    def evaluate(self, pool: Data, formula: str) -> Data:
        """The formula's result by the samples that there are."""
        has = {f"$Current{kind}": float(pool[f"current{kind}"]) for kind in KINDS}
        wants = {f"$Target{kind}": float(pool[f"target{kind}"]) for kind in KINDS}
        try:
            result = evaluate_formula(formula, self.samples_of(pool), has, wants)
        except FormulaError as error:
            return {"timestamp": stamp(), "error": {"code": "AutoScalingFormulaSyntaxError", "message": str(error)}}
        targets = ";".join(f"{name}={nodes}" for name, nodes in result.targets.items())
        return {"timestamp": stamp(), "results": f"{targets};$NodeDeallocationOption={result.deallocation}"}

    def samples_of(self, pool: Data) -> Samples:
        """What a formula sees of a pool: nothing."""
        return Samples()

    def settle(self, pool: Data) -> None:
        """End a resize; without errors the pool has the nodes that it wants."""
        pool["allocationState"] = "steady"
        if not pool.get("resizeErrors"):
            for kind in KINDS:
                pool[f"current{kind}"] = pool[f"target{kind}"]

    def complete(self, name: str) -> None:
        """End a job whose task has ended, if it ends with it."""
        task, job = self.tasks.get(name), self.jobs[name]
        if job.get("onAllTasksComplete") == "terminatejob" and (task is None or task["state"] == "completed"):
            job["state"] = "completed"
            job["executionInfo"] |= {"endTime": stamp(), "terminateReason": "AllTasksComplete"}
