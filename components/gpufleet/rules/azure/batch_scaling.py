"""Rules on how an Azure Batch pool scales: fixed targets, autoscale formulas and their arguments, Spot nodes."""

import re
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.counts import idle_nodes, min_within_max
from gpufleet.rules.generic import at_least
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

LONGEST_FORMULA = 8192
SHORTEST_IDLE = 5
"""Minutes: 10 samples, of which the newest two have not come yet; of 6 samples in 3 minutes, 4 would be below 70 %."""
LONGEST_IDLE = 60
"""Minutes: the longest look back in Microsoft's examples."""
DEFAULT_IDLE = 15
_DURATION = re.compile(r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:(\d{1,7})S)?)?")
_SAMPLES = re.compile(r"\.GetSample\(\s*1\s*\)")
_TARGET = re.compile(r"\$Target(Dedicated(Nodes)?|LowPriorityNodes)\s*=(?!=)")


@rule("azure-batch-scale-one-way", Severity.ERROR)
def scale_one_way(*, fixed: bool, automatic: bool) -> Outcome:
    """A Batch pool has fixed targets or a formula, not both.

    Source: scaleSettings of Microsoft.Batch/batchAccounts/pools 2024-07-01: one of the two.
    """
    if not (fixed and automatic):
        return passed()
    problem = "has both fixed targets and a formula"
    return failed("scale_settings", ["fixed_scale", "auto_scale"], problem, "keep fixed_scale or auto_scale")


@rule("azure-batch-formula-length", Severity.ERROR)
def formula_length(*, formula: str) -> Outcome:
    """An autoscale formula has at most 8 KB.

    Source: https://learn.microsoft.com/azure/batch/batch-automatic-scaling
    """
    size = len(formula.encode("utf-8", "replace"))
    if size <= LONGEST_FORMULA:
        return passed()
    return failed("auto_scale.formula", f"({size} bytes)", f"is above {LONGEST_FORMULA} bytes", "make it shorter")


@rule("azure-batch-formula-target", Severity.ERROR)
def formula_target(*, formula: str) -> Outcome:
    """An autoscale formula sets the number of nodes.

    Source: https://learn.microsoft.com/azure/batch/batch-automatic-scaling: it assigns $TargetDedicatedNodes,
    $TargetLowPriorityNodes or both; otherwise the pool stays as it is.
    """
    if _TARGET.search(formula):
        return passed()
    problem = "does not set a number of nodes"
    return failed("auto_scale.formula", formula, problem, "set $TargetDedicatedNodes or $TargetLowPriorityNodes")


@rule("azure-batch-formula-samples", Severity.WARNING)
def formula_samples(*, formula: str) -> Outcome:
    """An autoscale formula does not rely on the one last sample, which may not have come.

    Source: https://learn.microsoft.com/azure/batch/batch-automatic-scaling#obtain-sample-data: do not rely on
    GetSample(1) alone, look at GetSamplePercent.
    """
    if not _SAMPLES.search(formula) or ".GetSamplePercent(" in formula:
        return passed()
    problem = "relies on GetSample(1), and samples come late or not at all"
    fix = "look at GetSamplePercent first, and take the samples of some minutes"
    return failed("auto_scale.formula", formula, problem, fix)


@rule("azure-batch-formula-interval", Severity.ERROR)
def formula_interval(*, interval: str) -> Outcome:
    """An autoscale formula is evaluated every 5 minutes to every 168 hours.

    Source: evaluationInterval of Microsoft.Batch/batchAccounts/pools 2024-07-01 (default 15 minutes).
    """
    found = _DURATION.fullmatch(interval)
    days, hours, minutes, seconds = (int(each or 0) for each in found.groups()) if found else (0, 0, 0, 0)
    if 300 <= ((days * 24 + hours) * 60 + minutes) * 60 + seconds <= 168 * 3600:
        return passed()
    problem = "must be an interval of 5 minutes to 168 hours"
    return failed("auto_scale.evaluation_interval", interval, problem, "use one such as PT5M or PT15M")


@rule("azure-batch-low-priority", Severity.INFO)
def low_priority(*, nodes: int) -> Outcome:
    """Low-priority nodes of a Batch pool are Spot nodes since March 2026: no fixed discount, no highest price.

    Source: Azure/Batch#196
    """
    if nodes == 0:
        return passed()
    problem = "are Spot nodes since March 2026: their price moves, and they are evicted when capacity runs short"
    return failed("target_low_priority_nodes", nodes, problem, "plan for evictions, or use dedicated nodes")


@rule("azure-batch-idle-window", Severity.ERROR)
def idle_window(*, minutes: int) -> Outcome:
    """A pool looks back far enough to get 70 percent of its samples, and no farther than Batch is known to keep them.

    Source: https://learn.microsoft.com/azure/batch/batch-automatic-scaling#samples-sample-percentage-and-the-getsample-method:
    a sample each 30 s, about a minute late; the examples look back 60 minutes at most.
    """
    if minutes < SHORTEST_IDLE:
        problem = "is too short: samples come a minute late, and 70 percent of them are required"
        return failed("idle_minutes", minutes, problem, f"use {SHORTEST_IDLE} to {LONGEST_IDLE}")
    if minutes > LONGEST_IDLE:
        problem = "looks back farther than Batch is known to keep samples, and without samples no node is removed"
        return unverified("idle_minutes", minutes, problem, f"use {SHORTEST_IDLE} to {LONGEST_IDLE}")
    return passed()


@rule("azure-batch-task-fits", Severity.ERROR)
def task_fits(*, task_nodes: int, most: int) -> Outcome:
    """A pool can have all the nodes that one of its tasks needs at once.

    Source: https://learn.microsoft.com/azure/batch/batch-mpi: a multi-instance task starts when all of its instances
    have a node; until then it stays active.
    """
    # Of a pool without any node, the rule on max says what is wrong.
    if task_nodes <= most or most < 1:
        return passed()
    problem = f"is above max={most}: such a task waits forever"
    return failed("task_nodes", task_nodes, problem, f"use {most} or fewer, or raise max")


@rule("azure-batch-inter-node-scale-in", Severity.INFO)
def inter_node_scale_in(*, inter_node: bool) -> Outcome:
    """Nodes with inter-node communication are removed by the formula, or manually.

    Source: https://learn.microsoft.com/azure/batch/batch-mpi (MicrosoftDocs/azure-docs#104566): pools with inter-node
    communication do not allow nodes to be deprovisioned automatically. How far that holds is not proven.
    """
    if not inter_node:
        return passed()
    problem = "keeps nodes from being removed automatically according to Microsoft, and idle nodes cost money"
    fix = "look at the pool when its jobs are done, and resize it to 0 if nodes are left"
    return failed("inter_node_communication", inter_node, problem, fix)


def validate_autoscale(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the words of a formula, passes included. Reads min (0), max, idle_minutes (15), task_nodes (1).

    Rules on max with inter-node communication and on quotas are those of the pool: azure-batch-inter-node-size,
    any-quota-enough.
    """
    least, most = coerce.whole(args, "min", 0), args.get("max")
    task_nodes = coerce.whole(args, "task_nodes", 1)
    findings = [
        at_least(argument="min", value=least, least=0),
        at_least(argument="task_nodes", value=task_nodes, least=1),
        idle_window(minutes=coerce.whole(args, "idle_minutes", DEFAULT_IDLE)),
        idle_nodes(least=least, capacity="spot" if coerce.flag(args, "spot", False) else "on-demand"),
        inter_node_scale_in(inter_node=task_nodes > 1),
    ]
    if coerce.is_whole(most):
        findings += [
            at_least(argument="max", value=int(most), least=1),
            min_within_max(least=least, most=int(most)),
            task_fits(task_nodes=task_nodes, most=int(most)),
        ]
    return findings
