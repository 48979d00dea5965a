"""Why a job waits for nodes, according to Azure Batch: its pool, the pool's formula, quotas, and nodes with faults.

Sources: azure.batch.models (BatchPool, BatchNode, ResizeError, BatchNodeError); the codes of ResizeError are those of
learn.microsoft.com/troubleshoot/azure/hpc/batch/azure-batch-pool-resizing-failure.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpufleet.jobs.azure_batch.client import AzureBatchClient
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings
from gpufleet.jobs.azure_batch.status import AzureBatchJob

JsonObject = Mapping[str, Any]

_QUOTAS = {
    "AccountCoreQuotaReached": "of dedicated cores",
    "AccountLowPriorityCoreQuotaReached": "of Spot cores",
    "AccountSpotCoreQuotaReached": "of Spot cores",
    "AccountVMSeriesCoreQuotaReached": "of the size's family",
}
_NO_CAPACITY = ("AllocationFailed", "AllocationTimedOut", "AllocationTimedout")
_FAULTY = ("unusable", "starttaskfailed", "unknown", "offline")
_NAMED = 5
"""Most nodes with faults that are named one by one."""


def pending_reasons(
    azure: AzureBatchClient, settings: AzureBatchSettings, environment: str, job: AzureBatchJob
) -> list[str]:
    """Why a job has no nodes, one line each; the same while nothing changes. Errors: AzureBusy, AzureBatchError."""
    pool = azure.find("get_pool", job.pool_id)
    name = next((each.name for each in settings.pools.values() if each.pool_id == job.pool_id), job.pool_id)
    if pool is None:
        return [f"its pool {name} no longer exists; `pulumi up` makes it, then submit the job again"]
    return list(dict.fromkeys(_lines(azure, pool, name, environment, job.nodes)))


def pool_errors(azure: AzureBatchClient, pool: JsonObject, environment: str, name: str) -> list[str]:
    """Errors that keep a pool below its target size, one line each. Errors: AzureBusy, AzureBatchError."""
    lines = [_resize_error(each, environment, name) for each in pool.get("resizeErrors") or []]
    run = pool.get("autoScaleRun") or {}
    if pool.get("enableAutoScale") and run.get("error"):
        lines.append(f"its autoscale formula fails: {error_text(run['error'])}; `gpufleet pool autoscale` sets another")
    return [*lines, *_faulty(list(azure.list_all("list_nodes", str(pool["id"]))))]


def _lines(azure: AzureBatchClient, pool: JsonObject, name: str, environment: str, needed: int) -> Iterator[str]:
    has, wants = current_nodes(pool), target_nodes(pool)
    if pool.get("state") == "deleting":
        yield f"its pool {name} is being deleted"
        return
    faults = pool_errors(azure, pool, environment, name)
    yield from faults
    if needed > 1 and not pool.get("enableInterNodeCommunication"):
        yield f"nodes of pool {name} do not talk to each other: a job of {needed} nodes never starts there; use another"
        return
    resize = f"`gpufleet pool resize {environment} {name} {needed}`"
    if pool.get("allocationState") == "resizing":
        yield f"pool {name} is resizing: {has} of {wants} nodes are there"
    elif pool.get("enableAutoScale") and wants < needed:
        last = (pool.get("autoScaleRun") or {}).get("timestamp")
        when = f", last at {last}" if last else ""
        yield f"pool {name} is at {wants} nodes, and the job needs {needed}: its formula looks every few minutes{when}"
    elif wants < needed:
        yield f"pool {name} is at {wants} nodes, and the job needs {needed}; {resize}"
    elif has < needed and not faults:
        yield f"pool {name} has {has} of {wants} nodes, and the job needs {needed}; {resize} asks for them again"
    elif not faults:
        yield f"all {has} nodes of pool {name} are starting or busy; the job starts when {needed} of them are free"


def current_nodes(pool: JsonObject) -> int:
    """The nodes that a pool has, of both kinds."""
    return int(pool.get("currentDedicatedNodes") or 0) + int(pool.get("currentLowPriorityNodes") or 0)


def target_nodes(pool: JsonObject) -> int:
    """Those that it should have."""
    return int(pool.get("targetDedicatedNodes") or 0) + int(pool.get("targetLowPriorityNodes") or 0)


def _resize_error(error: JsonObject, environment: str, name: str) -> str:
    code = str(error.get("code") or "")
    said = error_text(error)
    if code in _QUOTAS:
        return f"quota {_QUOTAS[code]} is used up: {said}; raise it (the Batch account's Quotas), or use fewer nodes"
    if code in _NO_CAPACITY:
        return (
            f"Azure has no such nodes free just now: {said}; ask again later with "
            f"`gpufleet pool resize {environment} {name} N`, or use another size or region"
        )
    return f"pool {name} could not be resized: {said}"


def _faulty(nodes: Sequence[JsonObject]) -> Iterator[str]:
    bad = [each for each in nodes if each.get("state") in _FAULTY]
    taken = sum(each.get("state") == "preempted" for each in nodes)
    for node in bad[:_NAMED]:
        why = "; ".join(error_text(each) for each in node.get("errors") or [])
        if node["state"] == "starttaskfailed":
            info = node.get("startTaskInfo") or {}
            code = info.get("exitCode")
            ended = (
                f"with code {code}"
                if code is not None
                else error_text(info.get("failureInfo") or {}) or "without a code"
            )
            yield f"node {node['id']}: its start task failed {ended}; see startup/stderr.txt there, fix start_command"
        elif node["state"] == "unusable":
            fix = "if it is a mount, look at the storage account's network and the identity's rights, then reboot it"
            yield f"node {node['id']} is unusable ({why or 'no reason given'}); {fix}"
        else:
            yield f"node {node['id']} is {node['state']}" + (f" ({why})" if why else "")
    if len(bad) > _NAMED:
        yield f"{len(bad) - _NAMED} more nodes have faults"
    if taken:
        yield f"{taken} Spot nodes were taken by Azure; others come when there is capacity"


def error_text(error: JsonObject) -> str:
    """An error of Batch in one line: code, words and details."""
    more = error.get("values") or error.get("errorDetails") or error.get("details") or []
    details = "; ".join(f"{each.get('name')}: {each.get('value')}" for each in more if each.get("value"))
    words = ": ".join(" ".join(str(each).split()) for each in (error.get("code"), error.get("message")) if each)
    return f"{words} ({' '.join(details.split())})" if details else words
