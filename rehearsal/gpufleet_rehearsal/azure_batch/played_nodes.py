"""An account of Azure Batch whose nodes come and go, and whose tasks run and end, over simulated time.

No container runs: a task takes a minute, its stdout.txt says so, and it ends with 0, or with what its job's metadata
`rehearsal.gpufleet.dev/exit-code` says (a number; none: it runs until somebody ends it), as on the rehearsal's control
plane. What a real node would copy from it (`outputFiles`) are its streams. Played: formulas, by the samples that Batch
takes, and nodes only as far as the quotas of the account and faults of capacity let them come. Not played: evictions,
mounts, pulls of images, start tasks, limits of time.

Sources: learn.microsoft.com/azure/batch/batch-automatic-scaling (samples), nodes-and-pools (nodes that go with
taskcompletion), learn.microsoft.com/troubleshoot/azure/hpc/batch/azure-batch-pool-resizing-failure (codes of errors).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from gpufleet_rehearsal.azure_batch.account import KINDS, STREAMS, BatchAccount, Data, stamp
from gpufleet_rehearsal.azure_batch.formula import PERIOD, Samples
from gpufleet_rehearsal.played_jobs import EXIT_CODE, RUN_SECONDS, exit_code, log_line

NODE_SECONDS = 480.0
"""From a resize to nodes that take tasks: 7 to 10 minutes for the first node of a pool; assumed for all."""
EVALUATION_SECONDS = 300.0
"""Between two evaluations of a formula, the shortest that Batch allows, as each of our pools has it."""
MOST_STEPS = 480
"""Periods that are played one by one, four hours; after them nothing is going on any more, and time is skipped."""
KEPT_SAMPLES = 400
QUOTA_ERRORS = {
    "DedicatedNodes": ("AccountCoreQuotaReached", "The specified account has reached core quota"),
    "LowPriorityNodes": (
        "AccountLowPriorityCoreQuotaReached",
        "The specified account has reached low priority core quota",
    ),
}
"""As the table of the simulated cloud has them (azure-native/types/batch.yaml)."""
CAPACITY_ERROR = ("AllocationFailed", "Desired number of nodes could not be allocated")
"""The code is documented, the words are assumed."""


@dataclass
class PlayedBatch(BatchAccount):
    """at: simulated seconds that it is played until. recorded: samples by pool and metric. moments: when the resize
    and the next evaluation of a pool are due, and the end of a job's task. held: nodes of a job's task.

    cores: of one node of a size. quota: cores that the account may have of a kind of nodes; None: no limit.
    has_capacity: whether Azure has nodes of a size. copy: gets a container's URL, a path in it and what a node copies.
    """

    at: float = 0.0
    recorded: dict[str, dict[str, list[tuple[float, float]]]] = field(default_factory=dict)
    resized: dict[str, float] = field(default_factory=dict)
    evaluated: dict[str, float] = field(default_factory=dict)
    ended: dict[str, float] = field(default_factory=dict)
    held: dict[str, list[str]] = field(default_factory=dict)
    cores: Callable[[str], int] = lambda size: 0
    quota: Callable[[str], int | None] = lambda kind: None
    has_capacity: Callable[[str], bool] = lambda size: True
    copy: Callable[[str, str, bytes], None] = lambda container, path, content: None

    def advance(self, until: float) -> None:
        """Play until a simulated moment."""
        for _ in range(MOST_STEPS):
            if self.at + PERIOD > until:
                return
            self.at += PERIOD
            self._step()
        self._skip(until - self.at)

    def samples_of(self, pool: Data) -> Samples:
        """What Batch has recorded of a pool's tasks."""
        return Samples(self.recorded.get(pool["id"], {}), self.at)

    def add_nodes(self, pool: Data, kind: str, number: int) -> None:
        """Add idle nodes to a pool."""
        there = {node["id"] for node in self.nodes[pool["id"]]}
        letter = "d" if kind == "DedicatedNodes" else "p"
        free = (name for index in count() if (name := f"tvmps_{index:04d}_{letter}") not in there)
        for _ in range(number):
            self.add_node(pool["id"], next(free), isDedicated=letter == "d", vmSize=pool["vmSize"])
        self._count(pool)

    def remove_pool(self, name: str) -> None:
        """Forget a pool that the subscription no longer has, with its nodes."""
        for known in (self.pools, self.nodes, self.recorded, self.resized, self.evaluated):
            known.pop(name, None)

    def _step(self) -> None:
        for job in [job for job, end in self.ended.items() if end <= self.at]:
            self._end(job)
        self._free()
        for pool in list(self.pools.values()):
            self._resize(pool)
            self._start(pool)
            self._sample(pool)
            self._evaluate(pool)

    def _skip(self, seconds: float) -> None:
        """Let time pass in which nothing happens."""
        self.at += seconds
        for due in (self.resized, self.evaluated, self.ended):
            due.update({name: moment + seconds for name, moment in due.items()})
        for metrics in self.recorded.values():
            for name, samples in metrics.items():
                metrics[name] = [(moment + seconds, value) for moment, value in samples]

    # Tasks.

    def _start(self, pool: Data) -> None:
        for name in self._active(pool):
            task, idle = self.tasks[name], [each for each in self.nodes[pool["id"]] if each["state"] == "idle"]
            needed = instances(task)
            if needed > len(idle) or (needed > 1 and not pool["enableInterNodeCommunication"]):
                continue
            for node in idle[:needed]:
                node["state"] = "running"
            self.held[name] = [node["id"] for node in idle[:needed]]
            self._begin(name, task)

    def _begin(self, name: str, task: Data) -> None:
        nodes = self.held[name]
        self.starts(name, nodes[0])
        image = (task.get("containerSettings") or {}).get("imageName", "no image")
        self.writes(name, log_line(image, len(nodes), self.jobs[name]["poolInfo"]["poolId"]) + "\n")
        if self._exit_code(name) is not None:
            self.ended[name] = self.at + RUN_SECONDS

    def _end(self, name: str) -> None:
        del self.ended[name]
        task, code = self.tasks.get(name), self._exit_code(name)
        if task is None or task["state"] != "running":
            return
        self._copy(name, task)
        ran = task["executionInfo"]
        if code and ran["retryCount"] < (task.get("constraints") or {}).get("maxTaskRetryCount", 0):
            ran |= {"retryCount": ran["retryCount"] + 1, "lastRetryTime": stamp()}
            self._begin(name, task)
            return
        # It ran for as long as the cloud's clock says, however little of it this machine has waited.
        ran["startTime"] = min(ran["startTime"], stamp(RUN_SECONDS))
        self.ends(name, code)

    def _copy(self, name: str, task: Data) -> None:
        for each in task.get("outputFiles") or []:
            container, stream = each["destination"].get("container"), each["filePattern"].removeprefix("../")
            if container and stream in STREAMS:
                self.copy(container["containerUrl"], container.get("path", stream), self.files[name, stream][0])

    def _free(self) -> None:
        for name in [name for name in self.held if self.tasks.get(name, {}).get("state") != "running"]:
            self.ended.pop(name, None)
            freed = self.held.pop(name)
            for nodes in self.nodes.values():
                for node in nodes:
                    if node["id"] in freed and node["state"] == "running":
                        node["state"] = "idle"

    def _exit_code(self, name: str) -> int | None:
        told = {each["name"]: each["value"] for each in self.jobs[name].get("metadata") or []}
        return exit_code(told.get(EXIT_CODE))

    def _active(self, pool: Data) -> list[str]:
        """Jobs of a pool whose task waits, oldest first."""
        found = [name for name, task in self.tasks.items() if task["state"] == "active" and self._is_of(name, pool)]
        return sorted(found, key=lambda name: str(self.tasks[name]["creationTime"]))

    def _is_of(self, name: str, pool: Data) -> bool:
        job = self.jobs[name]
        return bool(job["state"] == "active" and job["poolInfo"]["poolId"] == pool["id"])

    # Pools.

    def _sample(self, pool: Data) -> None:
        active = sum(instances(self.tasks[name]) for name in self._active(pool))
        running = sum(self._is_of(name, pool) for name in self.held)
        metrics = self.recorded.setdefault(pool["id"], {})
        for name, number in {
            "$ActiveTasks": active,
            "$RunningTasks": running,
            "$PendingTasks": active + running,
        }.items():
            metrics.setdefault(name, []).append((self.at, float(number)))
            del metrics[name][:-KEPT_SAMPLES]

    def _evaluate(self, pool: Data) -> None:
        name = pool["id"]
        if not pool["enableAutoScale"]:
            self.evaluated.pop(name, None)
            return
        if self.at < self.evaluated.get(name, self.at):
            return
        self.evaluated[name] = self.at + EVALUATION_SECONDS
        pool["autoScaleRun"] = run = self.evaluate(pool, pool["autoScaleFormula"])
        targets = dict(each.split("=") for each in run.get("results", "").split(";") if each.startswith("$Target"))
        for kind in KINDS:
            pool[f"target{kind}"] = int(targets.get(f"$Target{kind}") or pool[f"target{kind}"])
        if any(pool[f"target{kind}"] != pool[f"current{kind}"] for kind in KINDS):
            if pool["allocationState"] == "steady":
                pool.pop("resizeErrors", None)
            pool["allocationState"] = "resizing"

    def _resize(self, pool: Data) -> None:
        name = pool["id"]
        if pool["allocationState"] != "resizing":
            return
        grows = any(pool[f"target{kind}"] > pool[f"current{kind}"] for kind in KINDS)
        if self.at < self.resized.setdefault(name, self.at + (NODE_SECONDS if grows else 0.0)):
            return
        errors = [error for kind in KINDS if (error := self._resize_kind(pool, kind))]
        waits = any(pool[f"target{kind}"] < pool[f"current{kind}"] for kind in KINDS)
        if waits:
            # Those that go run a task still.
            return
        del self.resized[name]
        pool["allocationState"] = "steady"
        if errors:
            pool["resizeErrors"] = [{"code": code, "message": words} for code, words in errors]

    def _resize_kind(self, pool: Data, kind: str) -> tuple[str, str] | None:
        """Add or take away nodes of one kind; the error that keeps them away."""
        more = pool[f"target{kind}"] - pool[f"current{kind}"]
        if more < 0:
            idle = [each for each in self.nodes[pool["id"]] if _kind(each) == kind and each["state"] != "running"]
            gone = {each["id"] for each in idle[more:]}
            self.nodes[pool["id"]] = [each for each in self.nodes[pool["id"]] if each["id"] not in gone]
            self._count(pool)
        elif more > 0:
            limit = self.quota(kind)
            used = sum(each[f"current{kind}"] * self.cores(each["vmSize"]) for each in self.pools.values())
            if limit is not None and used + more * self.cores(pool["vmSize"]) > limit:
                return QUOTA_ERRORS[kind]
            if not self.has_capacity(pool["vmSize"]):
                return CAPACITY_ERROR
            self.add_nodes(pool, kind, more)
        return None

    def _count(self, pool: Data) -> None:
        for kind in KINDS:
            pool[f"current{kind}"] = sum(_kind(each) == kind for each in self.nodes[pool["id"]])


def instances(task: Mapping[str, Any]) -> int:
    """Nodes that a task takes."""
    return int((task.get("multiInstanceSettings") or {}).get("numberOfInstances", 1))


def _kind(node: Mapping[str, Any]) -> str:
    return "DedicatedNodes" if node["isDedicated"] else "LowPriorityNodes"
