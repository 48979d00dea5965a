"""What an account of Azure Batch holds in tests, pools, jobs of one task, and nodes with files, and what it refuses.

It runs nothing: a task stays active until a test moves it on. Sources: learn.microsoft.com/rest/api/batchservice
(operations, states, batch-status-and-error-codes); the SDK's docstrings on resizing (409 unless steady), on automatic
scaling (no other pool's formula is evaluated) and on jobs without tasks (which onAllTasksComplete ends at once).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tests.unit.azure.formula_interpreter import Samples, evaluate
from tests.unit.azure.formula_values import FormulaError

WAIT_SECONDS = 120.0

Data = dict[str, Any]


class Refused(Exception):
    """An answer of Batch's that is an error. values: (key, value) pairs of its details."""

    def __init__(self, status: int, code: str, words: str = "", *values: tuple[str, str]) -> None:
        super().__init__(code)
        self.status, self.code = status, code
        self.words = words or "Words of Batch."
        self.values = values


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass
class FakeBatch:
    """asked: (method, path, body) of each request. refusals: raise Refused for a method and path instead of an answer.

    files: content and time of creation by job and name. page: most things of one answer. steady_after: how often a
    pool that is resized is looked at before it is steady again.
    """

    url: str = ""
    pools: dict[str, Data] = field(default_factory=dict)
    nodes: dict[str, list[Data]] = field(default_factory=dict)
    jobs: dict[str, Data] = field(default_factory=dict)
    tasks: dict[str, Data] = field(default_factory=dict)
    files: dict[tuple[str, str], tuple[bytes, float]] = field(default_factory=dict)
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    refusals: list[Callable[[str, str], None]] = field(default_factory=list)
    page: int = 2
    steady_after: int = 0
    _looks: dict[str, int] = field(default_factory=dict)

    # What a test does, as the service or its nodes would.

    def add_pool(self, name: str, **more: Any) -> Data:
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

    def add_node(self, pool: str, node: str, state: str = "idle", **more: Any) -> Data:
        made = {"id": node, "state": state, "schedulingState": "enabled", "isDedicated": False, **more}
        self.nodes[pool].append(made)
        return made

    def starts(self, job: str, node: str = "node-0") -> None:
        task = self.tasks[job]
        pool = self.jobs[job]["poolInfo"]["poolId"]
        task["state"] = "running"
        task["nodeInfo"] = {"poolId": pool, "nodeId": node}
        task.setdefault("executionInfo", {"retryCount": 0, "requeueCount": 0})["startTime"] = stamp()
        for stream in ("stdout.txt", "stderr.txt"):
            self.files[job, stream] = (b"", time.time())

    def writes(self, job: str, text: str, stream: str = "stdout.txt") -> None:
        content, made = self.files[job, stream]
        self.files[job, stream] = (content + text.encode(), made)

    def fails_a_try(self, job: str) -> None:
        """A try has failed, and Batch makes another one on the same node: files are made anew."""
        task = self.tasks[job]
        task["executionInfo"]["retryCount"] += 1
        task["executionInfo"]["lastRetryTime"] = stamp()
        task["state"] = "preparing"

    def evicts(self, job: str) -> None:
        """The primary's Spot node is taken: its files are gone, and the task waits for another."""
        task = self.tasks[job]
        pool, node = task["nodeInfo"]["poolId"], task.pop("nodeInfo")["nodeId"]
        for each in self.nodes[pool]:
            if each["id"] == node:
                each["state"] = "preempted"
        task["state"] = "active"
        self.forgets_files(job)

    def forgets_files(self, job: str) -> None:
        self.files = {key: content for key, content in self.files.items() if key[0] != job}

    def ends(self, job: str, code: int | None = 0, failure: Data | None = None) -> None:
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
        self._all_complete(job)

    def wait_for_task(self, job: str) -> Data:
        self._wait(lambda: job in self.tasks, f"no task of {job} was submitted")
        return self.tasks[job]

    def wait_for_looks(self, at_least: int = 2) -> None:
        """Until somebody has asked anew for tasks, and has had the answer."""
        before = self._asked_for("/tasks/")
        self._wait(lambda: self._asked_for("/tasks/") > before + at_least, "nobody looks at the tasks")

    def bodies(self, method: str, end: str) -> list[Any]:
        """What was sent to the paths with this end."""
        return [body for how, path, body in self.asked if how == method and path.endswith(end)]

    def _asked_for(self, part: str) -> int:
        return sum(part in path and "/files/" not in path for _, path, _ in self.asked)

    @staticmethod
    def _wait(there: Callable[[], bool], otherwise: str) -> None:
        end = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < end:
            if there():
                return
            time.sleep(0.01)
        raise AssertionError(otherwise)

    # What Batch answers: (status, JSON, headers).

    def pool(self, name: str) -> Data:
        if name not in self.pools:
            raise Refused(404, "PoolNotFound", "The specified pool does not exist.")
        return self.pools[name]

    def job(self, name: str) -> Data:
        if name not in self.jobs:
            raise Refused(404, "JobNotFound", "The specified job does not exist.")
        return self.jobs[name]

    def task(self, job: str, task: str) -> Data:
        self.job(job)
        if job not in self.tasks or self.tasks[job]["id"] != task:
            raise Refused(404, "TaskNotFound", "The specified task does not exist.")
        return self.tasks[job]

    def get_pool(self, name: str) -> Data:
        pool = self.pool(name)
        if pool["allocationState"] == "resizing":
            self._looks[name] = self._looks.get(name, 0) + 1
            if self._looks[name] > self.steady_after:
                self._settle(pool)
        return pool

    def get_node(self, pool: str, node: str) -> Data:
        self.pool(pool)
        found = [each for each in self.nodes[pool] if each["id"] == node]
        if not found:
            raise Refused(404, "NodeNotFound", "The specified node does not exist.")
        return found[0]

    def add_job(self, body: Data) -> None:
        if body["id"] in self.jobs:
            raise Refused(409, "JobExists", "The specified job already exists.")
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
            raise Refused(409, "JobCompleted", "The specified job is already in a completed state.")
        self.jobs[name] |= body
        self._all_complete(name)

    def delete_job(self, name: str) -> None:
        self.job(name)
        self.jobs.pop(name)
        self.tasks.pop(name, None)

    def terminate_job(self, name: str, body: Data | None) -> None:
        job = self.job(name)
        if job["state"] == "completed":
            raise Refused(409, "JobCompleted", "The specified job is already in a completed state.")
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
            raise Refused(409, "JobCompleted", "The specified job is already in a completed state.")
        if name in self.tasks:
            raise Refused(409, "TaskExists", "The specified task already exists.")
        ran = {"retryCount": 0, "requeueCount": 0}
        self.tasks[name] = {**body, "state": "active", "creationTime": stamp(), "executionInfo": ran}

    def resize(self, name: str, body: Data) -> None:
        pool = self.pool(name)
        if pool["allocationState"] != "steady":
            raise Refused(409, "PoolBeingResized", "The specified pool is being resized.")
        if pool["enableAutoScale"]:
            raise Refused(409, "OperationNotValidOnPool", "The pool is configured for automatic scaling.")
        pool["targetDedicatedNodes"] = body.get("targetDedicatedNodes", pool["targetDedicatedNodes"])
        pool["targetLowPriorityNodes"] = body.get("targetLowPriorityNodes", pool["targetLowPriorityNodes"])
        pool["allocationState"] = "resizing"
        pool.pop("resizeErrors", None)
        self._looks.pop(name, None)

    def disable_autoscale(self, name: str) -> None:
        pool = self.pool(name)
        pool["enableAutoScale"] = False
        pool.pop("autoScaleFormula", None)
        pool.pop("autoScaleRun", None)

    def enable_autoscale(self, name: str, body: Data) -> None:
        pool = self.pool(name)
        if "autoScaleFormula" not in body and not pool["enableAutoScale"]:
            raise Refused(400, "MissingRequiredProperty", "", ("PropertyName", "autoScaleFormula"))
        formula = body.get("autoScaleFormula", pool.get("autoScaleFormula"))
        run = self._run(pool, formula)
        if "error" in run:
            raise Refused(400, "InvalidAutoScalingSettings", run["error"]["message"])
        pool |= {"enableAutoScale": True, "autoScaleFormula": formula, "autoScaleRun": run}

    def evaluate_autoscale(self, name: str, body: Data) -> Data:
        pool = self.pool(name)
        if not pool["enableAutoScale"]:
            raise Refused(409, "OperationNotValidOnPool", "The pool is not configured for automatic scaling.")
        return self._run(pool, body["autoScaleFormula"])

    def _run(self, pool: Data, formula: str) -> Data:
        """The formula's result, by the tests' own interpreter, without any samples."""
        kinds = ("DedicatedNodes", "LowPriorityNodes")
        has = {f"$Current{kind}": float(pool[f"current{kind}"]) for kind in kinds}
        wants = {f"$Target{kind}": float(pool[f"target{kind}"]) for kind in kinds}
        try:
            result = evaluate(formula, Samples(), has, wants)
        except FormulaError as error:
            return {"timestamp": stamp(), "error": {"code": "AutoScalingFormulaSyntaxError", "message": str(error)}}
        targets = ";".join(f"{name}={nodes}" for name, nodes in result.targets.items())
        return {"timestamp": stamp(), "results": f"{targets};$NodeDeallocationOption={result.deallocation}"}

    def _settle(self, pool: Data) -> None:
        pool["allocationState"] = "steady"
        if not pool.get("resizeErrors"):
            for kind in ("DedicatedNodes", "LowPriorityNodes"):
                pool[f"current{kind}"] = pool[f"target{kind}"]

    def _all_complete(self, name: str) -> None:
        task, job = self.tasks.get(name), self.jobs[name]
        if job.get("onAllTasksComplete") == "terminatejob" and (task is None or task["state"] == "completed"):
            job["state"] = "completed"
            job["executionInfo"] |= {"endTime": stamp(), "terminateReason": "AllTasksComplete"}
