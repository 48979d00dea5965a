"""The size of an Azure Batch pool: a fixed number of nodes, or an autoscale formula."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpufleet.durations import format_duration
from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_batch.pending_reasons import current_nodes, error_text, pool_errors, target_nodes
from gpufleet.jobs.azure_batch.settings import AzureBatchPoolSettings

WAIT_MINUTES = 15.0
"""How long one waits for nodes: a new one takes some 5 minutes; one with a running task goes when that has ended."""
EVALUATION_INTERVAL = "PT5M"
"""Between two evaluations of a formula: the shortest that Batch allows, as the pool's component has it."""

_LOOK_SECONDS = 10.0
_KINDS = {True: "targetLowPriorityNodes", False: "targetDedicatedNodes"}


@dataclass
class PoolSize:
    """One pool. name: as the environment knows it. most: nodes that its configuration allows; None if unknown.

    look: seconds between two looks at a pool that is resizing.
    """

    azure: AzureBatchClient
    environment: str
    name: str
    pool: AzureBatchPoolSettings
    most: int | None
    look: float = _LOOK_SECONDS
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def resize(self, nodes: int, minutes: float = WAIT_MINUTES) -> Iterator[str]:
        """Give it so many nodes and end its formula; what happens, a line each.

        Nodes go when their tasks have ended. minutes: how long to wait for it. Errors: UserError for a number that the
        pool may not have, and when Azure could not give it all nodes; Busy, AzureBatchError.
        """
        self._check_nodes("nodes", nodes, 0)
        end = self.clock() + 60 * minutes
        found = self._found()
        if found.get("enableAutoScale"):
            self.azure.call("disable_pool_auto_scale", self.pool.pool_id)
            yield f"{self.name}: its formula is off"
        if found.get("allocationState") != "steady":
            yield f"{self.name}: is being resized already; waiting for that"
            if not self._steady(end):
                raise UserError(
                    f"{self.name}: is still being resized after {format_duration(60 * minutes)}; run the same command "
                    "again"
                )
        wanted = {_KINDS[self.pool.spot]: nodes, _KINDS[not self.pool.spot]: 0}
        body = {**wanted, "nodeDeallocationOption": "taskcompletion"}
        self.azure.begin("begin_resize_pool", self.pool.pool_id, model="BatchPoolResizeOptions", body=body)
        yield f"{self.name}: {current_nodes(found)} nodes, {nodes} wanted"
        yield self._reached(nodes, self._steady(end), minutes)

    def autoscale(self, formula: str, least: int, most: int) -> Iterator[str]:
        """Have a formula for so many nodes decide; what happens, a line each. Errors: as of `resize`.

        A pool with a formula evaluates the new one first. Batch evaluates no formula on another pool: there it is set,
        which Batch does only if it can evaluate it.
        """
        self._check_nodes("max", most, 1)
        self._check_nodes("min", least, 0)
        found = self._found()
        run: Mapping[str, Any] = {}
        if found.get("enableAutoScale"):
            model, body = "BatchPoolEvaluateAutoScaleOptions", {"autoScaleFormula": formula}
            run = self.azure.call("evaluate_pool_auto_scale", self.pool.pool_id, model=model, body=body)
            if run.get("error"):
                raise UserError(f"{self.name}: the formula fails, nothing is changed: {error_text(run['error'])}")
        enable = {"autoScaleFormula": formula, "autoScaleEvaluationInterval": EVALUATION_INTERVAL}
        self._enable(enable)
        if not run:
            run = self._found().get("autoScaleRun") or {}
            if run.get("error"):
                self.azure.call("disable_pool_auto_scale", self.pool.pool_id)
                raise UserError(f"{self.name}: the formula fails, and is off again: {error_text(run['error'])}")
        now = _nodes_in(str(run.get("results") or ""), self.pool.spot)
        says = "" if now is None else f"; now it says {now}"
        yield f"{self.name}: a formula sets {least} to {most} nodes, every 5 minutes{says}"

    def _enable(self, body: Mapping[str, Any]) -> None:
        try:
            self.azure.call(
                "enable_pool_auto_scale", self.pool.pool_id, model="BatchPoolEnableAutoScaleOptions", body=body
            )
        except AzureBatchError as error:
            if error.code == "TooManyEnableAutoScaleRequests":
                raise UserError(
                    f"{self.name}: Azure Batch takes a formula every at most 30 s; run the same command again"
                ) from error
            raise

    def _check_nodes(self, word: str, nodes: int, least: int) -> None:
        if nodes < least:
            raise UserError(f"{self.name}: {word}={nodes}: use {least} or more")
        if self.most is not None and nodes > self.most:
            raise UserError(
                f"{self.name}: {word}={nodes}: the stack allows at most {self.most}, and budgets and quotas were "
                f"judged by that; use {self.most} or fewer, or raise the pool's max and run `pulumi up`"
            )

    def _found(self) -> Mapping[str, Any]:
        found = self.azure.find("get_pool", self.pool.pool_id)
        if found is None:
            raise UserError(
                f"{self.environment}: pool={self.name}: pool not found in the Batch account "
                f"({self.pool.pool_id}); `pulumi up` makes it"
            )
        if found.get("state") == "deleting":
            raise UserError(f"{self.environment}: pool={self.name}: is being deleted")
        return found

    def _steady(self, end: float) -> bool:
        """Wait until the pool is steady; False when it is not in time."""
        while self._found().get("allocationState") != "steady":
            if self.clock() >= end:
                return False
            self.sleep(self.look)
        return True

    def _reached(self, nodes: int, steady: bool, minutes: float) -> str:
        found = self._found()
        has = current_nodes(found)
        if not steady:
            more = "; nodes go when their tasks have ended" if has > nodes else ""
            waited = format_duration(60 * minutes)
            return f"{self.name}: {has} of {nodes} nodes after {waited}, and still being resized{more}"
        if has == nodes == target_nodes(found):
            return f"{self.name}: {has} nodes"
        why = "; ".join(pool_errors(self.azure, found, self.environment, self.name)) or "Azure gives no reason"
        raise UserError(f"{self.name}: {has} of {nodes} nodes: {why}")


def _nodes_in(results: str, spot: bool) -> int | None:
    """The number that a formula came to: $TargetDedicatedNodes=0;$TargetLowPriorityNodes=2;..."""
    found = re.search(rf"\$Target{'LowPriority' if spot else 'Dedicated'}Nodes=(\d+)", results)
    return int(found[1]) if found else None
