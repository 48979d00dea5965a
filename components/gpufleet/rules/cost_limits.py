"""Rules on what a stack may cost: ceilings, approval, idle nodes, a budget, and prices that nobody knows."""

from collections.abc import Mapping, Sequence

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("any-cost-ceiling-stack", Severity.ERROR)
def ceiling_stack(*, usd: float, complete: bool, limit: float, pool: str, fits: int) -> Outcome:
    """The maximum monthly cost of a stack is within the limit; reserved capacity that it only uses does not count.

    usd: its ceiling, a lower bound unless `complete`. pool: the most expensive one; fits: the largest max of it
    within the limit, 0 for none.

    Source: a forgotten cluster's bill (skypilot-org/skypilot#3953); a budget alarm comes hours after the money is gone:
    https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html
    """
    raised = "or raise stack_usd_month in the policy's configuration"
    if usd > limit:
        smaller = f"set max={fits} or less in {pool}" if pool and fits else "make its pools smaller"
        problem = f"the stack may cost more than its limit of {_usd(limit)} a month"
        return failed("ceiling", _said(usd, complete), problem, f"{smaller}, {raised}")
    if complete:
        return passed()
    problem = f"unknown costs may raise it above the limit of {_usd(limit)} a month"
    return unverified("ceiling", _said(usd, complete), problem, "see `gpufleet cost` for the unknown costs")


@rule("any-cost-ceiling-pool", Severity.ERROR)
def ceiling_pool(*, most: int, usd: float, complete: bool, limit: float, fits: int) -> Outcome:
    """The maximum monthly cost of a pool, with max nodes of its most expensive type, is within the limit.

    usd: for instances, disks and addresses, a lower bound unless `complete`. fits: the largest max within
    the limit.

    Source: a forgotten cluster's bill (skypilot-org/skypilot#3953); autoscaling goes up to max for any pod.
    """
    cost = f"costs up to {_said(usd, complete)}"
    if usd > limit:
        smaller = f"set max={fits} or less" if fits else "choose a smaller type"
        problem = f"{cost}, above the limit of {_usd(limit)} for one pool"
        return failed("max", most, problem, f"{smaller}, or raise pool_usd_month in the policy's configuration")
    if complete:
        return passed()
    problem = f"{cost}, and unknown costs may raise it above the limit of {_usd(limit)} for one pool"
    return unverified("max", most, problem, "see `gpufleet cost` for the unknown costs")


@rule("any-cost-price-known", Severity.ERROR)
def price_known(*, what: str, reason: str, known: bool | None) -> Outcome:
    """The GPU nodes of a stack have a price in the catalog, because a ceiling without them says nothing.

    known: None where the price may be known, but not how much of it there will be. reason: what is not known.

    Source: infracost takes a missing price for zero (internal/schema/cost_component.go of infracost/infracost).
    """
    if known:
        return passed()
    if known is None:
        return unverified("cost", what, reason, "give plain values, and see docs/cost.md for what is priced")
    fix = "run `gpufleet catalog refresh`, or suppress this for the resource and say what it costs in the reason"
    return failed("cost", what, f"{reason}, so that no figure holds it", fix)


@rule("any-cost-minor-price-known", Severity.WARNING)
def minor_price_known(*, missing: Sequence[str], undecided: Sequence[str]) -> Outcome:
    """Everything else that a stack is billed for has a price in the catalog: without it, the figures are lower bounds.

    missing: what has no price. undecided: what may have one, but of which is not known how much there will be, or
    whether it costs anything.

    Source: our choice of severity: no list that needs no account has the small prices of each region, and a stack there
    is not wrong; any-cost-ceiling-stack says that its figure is a lower bound.
    """
    see = "see `gpufleet cost` for each"
    if missing:
        problem = "has no price in the catalog, so that no figure holds it"
        return failed("cost", _some(missing), problem, f"run `gpufleet catalog refresh`, or {see}")
    if undecided:
        return unverified("cost", _some(undecided), "the amount or the price is not known before deployment", see)
    return passed()


def _some(names: Sequence[str]) -> str:
    """The first three, and how many more there are."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@rule("any-cost-approval", Severity.ERROR)
def approved(
    *, pool: str, most: int | None, gpus: int | None, others: int, limit: int, approved: int | None
) -> Outcome:
    """Above a number of on-demand GPUs, a stack needs approval for each pool, because a typo in max is expensive.

    gpus: of the pool at max; None where a type or max is not known. others: on-demand GPUs of pools without approval.
    limit: GPUs of a stack without approval; approved: those of this pool, None for a pool that has no approval.

    Source: our choice of number; nobody looks at a number that the cloud takes: a launch within quota is never asked
    about.
    """
    if gpus is None:
        allowed = limit if approved is None else max(limit, approved)
        problem = f"how many GPUs it may have is not known, and more than {allowed} need approval"
        return unverified("max", "unknown" if most is None else most, problem, "give plain types and max")
    fix = f"have them approved (approved: {{{pool}: {gpus}}} in the policy's configuration), or set a smaller max"
    if approved is not None and gpus > max(limit, approved):
        return failed("max", most, f"{gpus} GPUs on demand are more than the {approved} that are approved", fix)
    if approved is not None or gpus + others <= limit:
        return passed()
    with_others = f"{gpus} GPUs on demand" + (f", and {others} of other pools without approval," if others else "")
    return failed("max", most, f"{with_others} are more than the {limit} that need no approval", fix)


@rule("any-cost-idle", Severity.ERROR)
def idle(*, least: int, usd_day: float | None, environment: str) -> Outcome:
    """GPU nodes of a development environment do not run all the time.

    usd_day: what they cost on a day without work, None if that is not known.

    Source: forgotten clusters' bills (skypilot-org/skypilot#67 and #3953).
    """
    if least <= 0:
        return passed()
    cost = "an amount that is not known" if usd_day is None else f"{_usd(usd_day)} a day"
    nodes = "1 node runs and costs" if least == 1 else f"{least} nodes run and cost"
    problem = f"{nodes} {cost}, also when nobody works in {environment}"
    return failed("min", least, problem, "set min=0: nodes then come with jobs")


@rule("any-cost-budget", Severity.ERROR)
def budget(*, present: bool, elsewhere: bool, kinds: str) -> Outcome:
    """A budget covers the stack's cost: its own, or one that exists elsewhere according to the configuration.

    Source: https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html,
    https://learn.microsoft.com/azure/cost-management-billing/costs/tutorial-acm-create-budgets
    """
    if present or elsewhere:
        return passed()
    problem = "no budget notifies anybody when it costs more than planned"
    return failed("budget", None, problem, f"add one ({kinds}), or say budget: elsewhere in the policy's configuration")


@rule("any-cost-price-age", Severity.WARNING)
def price_age(*, old: Mapping[str, str], days: int) -> Outcome:
    """The prices that a stack is checked by are of the last 180 days.

    old: prices that are older, and of when they are.

    Source: list prices change; AWS cut those of P4 and P5 by up to 45 percent in June 2025:
    https://www.usage.ai/blogs/aws/ai-ml-cost/llm-cost-optimization-aws/
    """
    if not old:
        return passed()
    oldest = min(old, key=lambda name: (old[name], name))
    number = "1 price is" if len(old) == 1 else f"{len(old)} prices are"
    problem = f"{number} older than {days} days, among them that of {oldest}"
    return failed("as_of", old[oldest], problem, "run `gpufleet catalog refresh`")


@rule("aws-cost-nat-gateways", Severity.INFO)
def nat_gateways(*, number: int, usd_month: float | None) -> Outcome:
    """A development environment needs one NAT gateway only; one in each zone only helps when a zone fails.

    usd_month: what all of them cost, None if that is not known.

    Source: https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html: a gateway in each zone is for
    resilience; each is billed by the hour: https://aws.amazon.com/vpc/pricing/
    """
    if number < 2:
        return passed()
    cost = "" if usd_month is None else f" for {_usd(usd_month)} a month"
    return failed(
        "nat", number, f"{number} NAT gateways stand{cost}", "use one (nat: single) where nobody waits for it"
    )


def _usd(amount: float) -> str:
    """An amount as people read it: whole from 1,000 on, with cents below."""
    return f"{amount:,.0f} USD" if amount >= 1000 else f"{amount:,.2f} USD"


def _said(usd: float, complete: bool) -> str:
    return f"{'' if complete else 'at least '}{_usd(usd)} a month"
