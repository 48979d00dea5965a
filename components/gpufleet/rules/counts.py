"""Rules on the number of nodes."""

from gpufleet.rules.plain import at_least
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule


@rule("any-count-min-max", Severity.ERROR)
def min_within_max(*, least: int, most: int) -> Outcome:
    """The least number of nodes is not above the greatest.

    Source: EKS CreateNodegroup: minimum capacity can't be greater than maximum size (InvalidParameterException).
    """
    if least <= most:
        return passed()
    return failed("min", least, f"is above max={most}", f"use {most} or fewer, or raise max")


@rule("any-count-desired", Severity.ERROR)
def desired_within(*, desired: int, least: int, most: int) -> Outcome:
    """The number of nodes to begin with lies between the least and the greatest.

    Source: EKS CreateNodegroup: desired capacity can't be below minimum or above maximum (InvalidParameterException).
    """
    if least > most or least <= desired <= most:
        return passed()
    wanted = f"use {least}" if least == most else f"use {least} to {most}"
    return failed("desired", desired, f"is not between min={least} and max={most}", wanted)


@rule("any-count-idle", Severity.INFO)
def idle_nodes(*, least: int, capacity: str) -> Outcome:
    """Nodes that always run are paid for while no job does; reserved capacity is paid for anyway.

    Source: EC2 bills on-demand and Spot instances for each second that they run.
    """
    if least <= 0 or capacity in ("reservation", "capacity-block"):
        return passed()
    nodes = "node runs" if least == 1 else "nodes run"
    return failed("min", least, f"{least} {nodes} and cost money even when no job does", "set min=0 to scale to zero")


def judge_counts(least: int, desired: int, most: int) -> list[Finding]:
    """Every finding on min, desired and max of a pool."""
    return [
        at_least(argument="min", value=least, least=0),
        at_least(argument="desired", value=desired, least=0),
        at_least(argument="max", value=most, least=1),
        min_within_max(least=least, most=most),
        desired_within(desired=desired, least=least, most=most),
    ]
