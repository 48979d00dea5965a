"""The autoscale formula of an Azure Batch pool, made from min and max."""

from gpufleet.errors import UserError
from gpufleet.rules.azure.batch_scaling import DEFAULT_IDLE, validate_autoscale

GROWTH_MINUTES = 5
"""How far back waiting tasks are looked for: the shortest time between two evaluations."""
GROWTH_PERCENT = 30
"""Samples that growth wants, in percent: a task that waits is seen in few, and a node too many goes again."""
SHRINK_PERCENT = 70
"""Samples that shrinking wants, in percent: what Microsoft's examples ask for."""


def autoscale_formula(
    *, min: int = 0, max: int, spot: bool = False, idle_minutes: int = DEFAULT_IDLE, task_nodes: int = 1
) -> str:
    """The formula of a pool of min to max nodes: `autoScale.formula` of its scale settings.

    min, max: nodes. spot: Spot nodes (Batch: low priority) instead of dedicated ones. idle_minutes: how long fewer
    nodes must have been enough before the others go. task_nodes: the most nodes that one task takes; above 1 for
    multi-instance tasks, and the pool then holds that many nodes for each task that runs, of those that it has.

    What it does, and why:

    - A task needs one node (the pool's task slots per node are 1). The pool grows to the highest number of pending
      tasks of the last 5 minutes, at once and not by an average, as a multi-instance task needs all of its nodes.
    - A multi-instance task counts as all of its nodes while it is active; the documentation does not say as how many
      while it runs. Thus running tasks take up to task_nodes each, and never more than there are nodes: right if a
      running task counts as one, and if it counts as its instances.
    - Fewer nodes only after idle_minutes of less need, by 70 percent of the samples; else the target stays.
    - GetSample over a time fails below 70 percent unless it is given another share, and a failed evaluation leaves
      the pool as it is, for ever if the samples stay away: every GetSample comes behind a GetSamplePercent. A new
      pool has no samples, and has min nodes.
    - GetSample(1) may be of any age: not used.
    - taskcompletion: what still runs on a node that is to go is not ended (default: requeue). A task of the last
      minute has no sample yet, and this is what protects it.

    Raises UserError with a line for each fault of the arguments.

    Sources: https://learn.microsoft.com/azure/batch/batch-automatic-scaling (variables, types, functions, samples);
    Azure/batch-shipyard#138 (no samples: "wanted 70%, received 0%" without a share having been asked for; ?: is lazy),
    Azure/batch-shipyard#343 (multi-instance tasks and averages), MicrosoftDocs/azure-docs#47753 (active tasks alone
    shrink the pool below what runs), microsoft/ga4gh-tes#482 (failed evaluations leave a pool stuck), Azure/Batch#151
    (targets are truncated: only whole numbers here, one slot a node).
    """
    words = {"min": min, "max": max, "spot": spot, "idle_minutes": idle_minutes, "task_nodes": task_nodes}
    refusing = [finding.line("autoscale") for finding in validate_autoscale(words) if finding.rejects]
    if refusing:
        raise UserError("\n".join(refusing))
    kind, other = ("LowPriority", "Dedicated") if spot else ("Dedicated", "LowPriority")
    lines = _multi_instance(kind, task_nodes) if task_nodes > 1 else _SINGLE
    return "\n".join(
        [
            f"leastNodes = {min};",
            f"mostNodes = {max};",
            f"growthTime = TimeInterval_Minute * {GROWTH_MINUTES};",
            f"idleTime = TimeInterval_Minute * {idle_minutes};",
            *lines,
            # Too few samples to shrink by: as many nodes as before.
            f"keptNodes = idlePercent < {SHRINK_PERCENT} ? $Target{kind}Nodes : neededNodes;",
            f"$Target{kind}Nodes = max(leastNodes, min(mostNodes, max(wantedNodes, keptNodes)));",
            # A target that a formula does not set stays: nodes of a pool that was of the other kind would never go.
            f"$Target{other}Nodes = 0;",
            "$NodeDeallocationOption = taskcompletion;",
            "",
        ]
    )


def _sampled(metric: str, function: str, time: str, percent: str, least: int) -> str:
    """A number of tasks over a time; 0 where fewer than `least` percent of the samples have come."""
    return f"{percent} < {least} ? 0 : {function}(${metric}.GetSample({time}, {least}))"


_SINGLE = [
    "growthPercent = $PendingTasks.GetSamplePercent(growthTime);",
    f"wantedNodes = {_sampled('PendingTasks', 'max', 'growthTime', 'growthPercent', GROWTH_PERCENT)};",
    "idlePercent = $PendingTasks.GetSamplePercent(idleTime);",
    f"neededNodes = {_sampled('PendingTasks', 'max', 'idleTime', 'idlePercent', SHRINK_PERCENT)};",
]
"""Statements for tasks of one node each: wantedNodes to grow to, neededNodes to keep by idlePercent of the samples."""


def _multi_instance(kind: str, task_nodes: int) -> list[str]:
    """The same for tasks of up to `task_nodes` nodes.

    Wanted is the more of two: all pending tasks, and the nodes of what ran all the time (min) beside the most that
    waited (max). A task that was seen waiting and running counts once in each of them.
    """
    metrics = {"Active": "ActiveTasks", "Running": "RunningTasks", "Pending": "PendingTasks"}

    def least_percent(time: str) -> str:
        return f"min({', '.join(f'${metric}.GetSamplePercent({time})' for metric in metrics.values())})"

    growth = ("growthTime", "growthPercent", GROWTH_PERCENT)
    idle = ("idleTime", "idlePercent", SHRINK_PERCENT)
    return [
        f"taskNodes = {task_nodes};",
        f"nodesNow = $Current{kind}Nodes;",
        f"growthPercent = {least_percent('growthTime')};",
        f"pending = {_sampled('PendingTasks', 'max', *growth)};",
        f"waiting = {_sampled('ActiveTasks', 'max', *growth)};",
        f"stayed = {_sampled('RunningTasks', 'min', *growth)};",
        "wantedNodes = max(pending, waiting + min(nodesNow, stayed * taskNodes));",
        f"idlePercent = {least_percent('idleTime')};",
        f"pendingBefore = {_sampled('PendingTasks', 'max', *idle)};",
        f"runningBefore = {_sampled('RunningTasks', 'max', *idle)};",
        "neededNodes = max(pendingBefore, min(nodesNow, runningBefore * taskNodes));",
    ]
