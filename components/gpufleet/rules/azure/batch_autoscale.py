"""Rules on the words that an autoscale formula of Azure Batch is made from, and the door for all of them."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.counts import idle_nodes, min_within_max
from gpufleet.rules.generic import at_least
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

SHORTEST_IDLE = 5
"""Minutes: 10 samples, of which the newest two have not come yet; of 6 samples in 3 minutes, 4 would be below 70 %."""
LONGEST_IDLE = 60
"""Minutes: the longest look back in Microsoft's examples."""
DEFAULT_IDLE = 15


@rule("azure-batch-idle-window", Severity.ERROR)
def idle_window(*, minutes: int) -> Outcome:
    """A pool looks back far enough to see 70 percent of its samples, and no farther than Batch is known to keep them.

    Source: https://learn.microsoft.com/azure/batch/batch-automatic-scaling#samples-sample-percentage-and-the-getsample-method:
    a sample each 30 s, about a minute late; the examples look back 60 minutes at most.
    """
    if minutes < SHORTEST_IDLE:
        problem = "is too short: samples come a minute late, and 70 percent of them are wanted"
        return failed("idle_minutes", minutes, problem, f"use {SHORTEST_IDLE} to {LONGEST_IDLE}")
    if minutes > LONGEST_IDLE:
        problem = "looks back farther than Batch is known to keep samples, and without them no node goes"
        return unverified("idle_minutes", minutes, problem, f"use {SHORTEST_IDLE} to {LONGEST_IDLE}")
    return passed()


@rule("azure-batch-task-fits", Severity.ERROR)
def task_fits(*, task_nodes: int, most: int) -> Outcome:
    """A pool can have all the nodes that one of its tasks takes at once.

    Source: https://learn.microsoft.com/azure/batch/batch-mpi: a multi-instance task starts when all of its instances
    have a node; until then it stays active.
    """
    # Of a pool without any node, the rule on max says what is wrong.
    if task_nodes <= most or most < 1:
        return passed()
    problem = f"is above max={most}: such a task waits for ever"
    return failed("task_nodes", task_nodes, problem, f"use {most} or fewer, or raise max")


@rule("azure-batch-inter-node-scale-in", Severity.INFO)
def inter_node_scale_in(*, inter_node: bool) -> Outcome:
    """Nodes that talk to each other go when their formula says so, or by hand.

    Source: https://learn.microsoft.com/azure/batch/batch-mpi (MicrosoftDocs/azure-docs#104566): pools with inter-node
    communication do not allow nodes to be deprovisioned automatically. How far that holds is not proven.
    """
    if not inter_node:
        return passed()
    problem = "is said by Microsoft to keep nodes from going automatically, and idle nodes cost money"
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
