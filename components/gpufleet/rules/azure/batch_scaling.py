"""Rules on how an Azure Batch pool scales: targets, formulas, Spot nodes."""

import re

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

LONGEST_FORMULA = 8192
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
    """An autoscale formula says how many nodes there are to be.

    Source: https://learn.microsoft.com/azure/batch/batch-automatic-scaling: it assigns $TargetDedicatedNodes,
    $TargetLowPriorityNodes or both; otherwise the pool stays as it is.
    """
    if _TARGET.search(formula):
        return passed()
    problem = "assigns no number of nodes"
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
    problem = "is no interval of 5 minutes to 168 hours"
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
