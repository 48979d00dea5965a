"""The played account of Azure Batch as tests drive it, and what it was asked.

It runs nothing: a task stays active until a test moves it on.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gpufleet_rehearsal.azure_batch.account import BatchAccount, BatchRejection, Data, stamp

__all__ = ["BatchRejection", "Data", "FakeBatch"]

WAIT_SECONDS = 120.0


@dataclass
class FakeBatch(BatchAccount):
    """asked: (method, path, body) of each request. refusals: raise BatchRejection for a method and path instead of an
    answer. steady_after: how often a pool that is resized is looked at before it is steady again.
    """

    page: int = 2
    asked: list[tuple[str, str, Any]] = field(default_factory=list)
    refusals: list[Callable[[str, str], None]] = field(default_factory=list)
    steady_after: int = 0
    _looks: dict[str, int] = field(default_factory=dict)

    def asks(self, method: str, path: str, body: Any) -> None:
        self.asked.append((method, path, body))
        for refusal in self.refusals:
            refusal(method, path)

    def get_pool(self, name: str) -> Data:
        pool = self.pool(name)
        if pool["allocationState"] == "resizing":
            self._looks[name] = self._looks.get(name, 0) + 1
            if self._looks[name] > self.steady_after:
                self.settle(pool)
        return pool

    def resize(self, name: str, body: Data) -> None:
        super().resize(name, body)
        self._looks.pop(name, None)

    # What a test does, as the service or its nodes would.

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
