"""A day of an Azure Batch pool with an autoscale formula: tasks come, nodes boot and are evicted, the formula runs.

Chosen against the formula where Azure does not say: Batch picks the nodes to go at random, busy ones too; tasks start
in any order that fits; a multi-instance task that runs counts as one, or as its instances (`counts_instances`).
"""

import random
from collections import Counter
from dataclasses import dataclass, field

from gpufleet_rehearsal.azure_batch.formula import FormulaError, Samples, evaluate

STEP = 30
"""Seconds; Batch takes a sample at each."""
LATE = 60
GROWTH = 300
SHRINK = 0.7
"""Share of the samples without which a formula may not shrink a pool."""


@dataclass
class Task:
    arrival: int
    nodes: int
    seconds: int
    started: int | None = None
    ended: int | None = None


@dataclass(eq=False)
class Node:
    ready: int
    task: Task | None = None
    going: bool = False


@dataclass
class Pool:
    """Terms of a simulation; times in seconds. `missing`: share of samples that never come."""

    formula: str
    most: int
    least: int = 0
    spot: bool = True
    idle: int = 900
    interval: int = 300
    counts_instances: bool = False
    evictions: float = 0.0
    missing: float = 0.05
    seed: int = 0


@dataclass
class Day:
    """What came of it. faults: kind -> how often; `taken`: nodes that the formula took from running tasks."""

    faults: Counter[str] = field(default_factory=Counter)
    highest: int = 0
    evicted: int = 0
    node_seconds: int = 0
    emptied: int | None = None
    """Seconds from the end of the last task until the pool is at its least for good; None: never."""


class Simulation:
    def __init__(self, pool: Pool, tasks: list[Task]) -> None:
        self.pool, self.tasks, self.chance = pool, tasks, random.Random(pool.seed)
        self.nodes: list[Node] = []
        self.target, self.now = 0, 0
        self.blind = 0
        """Evaluations since the last task's end that had too few samples to shrink by: each costs an interval."""
        self.samples, self.day = Samples(late=LATE), Day()
        self.kind = "LowPriority" if pool.spot else "Dedicated"

    def run(self, seconds: int) -> Day:
        phase = self.chance.randrange(0, self.pool.interval, STEP)
        for self.now in range(0, seconds, STEP):
            self._end()
            self._evict()
            self._resize()
            self._start()
            self._sample()
            if self.now % self.pool.interval == phase:
                self._evaluate()
            self.day.highest = max(self.day.highest, len(self.nodes))
            self.day.node_seconds += STEP * len(self.nodes)
            self._watch()
        self.day.faults["never ran"] += sum(task.ended is None for task in self.tasks)
        self.day.faults = +self.day.faults
        return self.day

    def _running(self) -> list[Task]:
        return [task for task in self.tasks if task.started is not None and task.ended is None]

    def _waiting(self) -> list[Task]:
        return [task for task in self.tasks if task.arrival <= self.now and task.started is None]

    def _all_ended(self) -> bool:
        return all(task.ended is not None for task in self.tasks)

    def _end(self) -> None:
        for task in self._running():
            if self.now - task.started >= task.seconds:
                task.ended = self.now
                self._free(task)

    def _free(self, task: Task) -> None:
        for node in self.nodes:
            if node.task is task:
                node.task = None

    def _evict(self) -> None:
        for node in self.nodes:
            if self.pool.spot and node.ready <= self.now and self.chance.random() < self.pool.evictions:
                # It stays in the pool and in $CurrentLowPriorityNodes, and comes back when there is capacity.
                node.ready = self.now + self.chance.randrange(300, 2400)
                self.day.evicted += 1
                if node.task:
                    self._requeue(node.task)

    def _requeue(self, task: Task) -> None:
        task.started = None
        self._free(task)

    def _resize(self) -> None:
        self.nodes = [node for node in self.nodes if not node.going or node.task]
        while len(self.nodes) < self.target:
            self.nodes.append(Node(self.now + self.chance.randrange(180, 600)))

    def _start(self) -> None:
        waiting = self._waiting()
        self.chance.shuffle(waiting)
        for task in waiting:
            idle = [node for node in self.nodes if not node.task and not node.going and node.ready <= self.now]
            if len(idle) >= task.nodes:
                task.started = self.now
                for node in idle[: task.nodes]:
                    node.task = task

    def _sample(self) -> None:
        if self.chance.random() < self.pool.missing:
            return
        active = sum(task.nodes for task in self._waiting())
        running = sum(task.nodes if self.pool.counts_instances else 1 for task in self._running())
        counts = {"$ActiveTasks": active, "$RunningTasks": running, "$PendingTasks": active + running}
        for metric, count in counts.items():
            self.samples.recorded.setdefault(metric, []).append((self.now, float(count)))
            # Nothing looks back for longer.
            del self.samples.recorded[metric][:-400]

    def _evaluate(self) -> None:
        self.samples.now = self.now
        if self._all_ended():
            seen = self.samples.between("$PendingTasks", self.pool.idle, 0)
            self.blind += len(seen) < SHRINK * self.pool.idle / STEP
        variable = f"$Target{self.kind}Nodes"
        current = {"$CurrentDedicatedNodes": 0.0, "$CurrentLowPriorityNodes": 0.0}
        current[f"$Current{self.kind}Nodes"] = float(len(self.nodes))
        targets = {"$TargetDedicatedNodes": 0.0, "$TargetLowPriorityNodes": 0.0, variable: float(self.target)}
        try:
            result = evaluate(self.pool.formula, self.samples, current, targets)
        except FormulaError:
            self.day.faults["evaluation failed"] += 1
            return
        self.target = result.targets[variable]
        self._judge()
        for node in self.nodes:
            node.going = False
        for node in self.chance.sample(self.nodes, max(0, len(self.nodes) - self.target)):
            node.going = True
            if node.task and result.deallocation != "taskcompletion":
                self.day.faults["taken"] += 1
                self._requeue(node.task)

    def _judge(self) -> None:
        """The target against what a formula can know: samples come late."""
        seen = [task for task in self._running() if self.now - task.started > LATE + 2 * STEP]
        in_use = sum(task.nodes for task in seen)
        if self.target < min(self.pool.most, in_use):
            self.day.faults["below running"] += 1
        settled = all(self.now - task.started > GROWTH + LATE + STEP for task in self._running())
        needed = sum(task.nodes for task in self._waiting() if self.now - task.arrival > LATE + 2 * STEP)
        if settled and self.target < min(self.pool.most, in_use + needed):
            self.day.faults["too few for all"] += 1
        if not self.pool.least <= self.target <= self.pool.most:
            self.day.faults["out of bounds"] += 1

    def _watch(self) -> None:
        if len(self.nodes) > self.pool.most:
            self.day.faults["above max"] += 1
        if not self._all_ended():
            return
        ended = max((task.ended for task in self.tasks), default=0)
        if len(self.nodes) > self.pool.least:
            self.day.emptied = None
            if self.now - ended > self.pool.idle + self.pool.interval * (1 + self.blind) + LATE + 3 * STEP:
                self.day.faults["not idle"] += 1
        elif self.day.emptied is None:
            self.day.emptied = self.now - ended


def day_of_tasks(seed: int, most_nodes: int, hours: int = 18, count: int = 40) -> list[Task]:
    """Tasks of `hours` hours: bursts and single ones, of one to `most_nodes` nodes, 30 seconds to 2 hours long."""
    chance = random.Random(f"tasks {seed}")
    tasks: list[Task] = []
    while len(tasks) < count:
        arrival = chance.randrange(0, hours * 3600)
        for _ in range(chance.choice([1, 1, 1, 4])):
            nodes = chance.choice([1, most_nodes, chance.randint(1, most_nodes)])
            tasks.append(Task(arrival, nodes, chance.choice([30, 600, 1800, 7200])))
    return sorted(tasks, key=lambda task: task.arrival)
