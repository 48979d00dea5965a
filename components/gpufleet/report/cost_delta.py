"""The cost of a change: the figures before and after, and what remains of the stack's budgets."""

from collections.abc import Iterable
from dataclasses import fields

from gpufleet.cost.estimate import Estimate
from gpufleet.cost.line_item import Total
from gpufleet.plan.property_values import get_path, value_of
from gpufleet.plan.resource import Plan, Resource
from gpufleet.report.model import CostAmount, CostSummary, RemainingBudget

AWS_BUDGET = "aws:budgets/budget:Budget"
AZURE_BUDGETS = (":consumption:Budget", ":costmanagement:Budget")
MONTHS = {"MONTHLY": 1, "QUARTERLY": 3, "ANNUALLY": 12}
"""Months that a budget's amount is for, by the clouds' words in capitals; another word is not known.

Sources: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Budget.html (TimeUnit),
https://learn.microsoft.com/rest/api/consumption/budgets/create-or-update (timeGrain)."""


def cost_summary(before: Estimate | None, after: Estimate) -> CostSummary:
    """The figures after a change beside those before; before: None where nothing was there to compare with."""
    sides = [_totals(before) if before else {}, _totals(after)]
    return CostSummary(**{figure: _amount(sides[0].get(figure), will, after) for figure, will in sides[1].items()})


def _totals(cost: Estimate) -> dict[str, Total]:
    return {**cost.totals, "busy_month": cost.busy_month, "committed": cost.bought_elsewhere}


def _amount(was: Total | None, will: Total, after: Estimate) -> CostAmount:
    return _compared(None if was is None else was.month, will.month, will.complete and not after.not_priced)


def _compared(was: float | None, will: float, complete: bool) -> CostAmount:
    was, will = None if was is None else round(was, 2), round(will, 2)
    return CostAmount(was, will, None if was is None else round(will - was, 2), complete)


def sum_costs(parts: Iterable[CostSummary | None]) -> CostSummary | None:
    """The sum of what is known; None if nothing is. A part that is not known makes it incomplete."""
    listed = list(parts)
    known = [part for part in listed if part is not None]
    if not known:
        return None
    whole = len(known) == len(listed)
    return CostSummary(*(_sum([getattr(part, each.name) for part in known], whole) for each in fields(CostSummary)))


def _sum(amounts: list[CostAmount], whole: bool) -> CostAmount:
    befores = [each.usd_month_before for each in amounts if each.usd_month_before is not None]
    # Beside one that nothing was there to compare with, a sum of changes would be read as that of all.
    was = sum(befores) if len(befores) == len(amounts) else None
    complete = whole and all(each.complete for each in amounts)
    return _compared(was, sum(each.usd_month_after for each in amounts), complete)


def remaining_budgets(plan: Plan, after: Estimate) -> list[RemainingBudget]:
    """The budgets of a stack."""
    steady, ceiling = after.totals["steady"].month, after.totals["ceiling"].month
    found = []
    for resource in plan.resources:
        if resource.type != AWS_BUDGET and not resource.type.endswith(AZURE_BUDGETS):
            continue
        amount = _usd_month(resource)
        lefts = [None if amount is None else round(amount - each, 2) for each in (steady, ceiling)]
        found.append(RemainingBudget(resource.name, resource.urn, amount, lefts[0], lefts[1]))
    return found


def _usd_month(resource: Resource) -> float | None:
    if resource.type == AWS_BUDGET:
        amount, unit, time = (value_of(resource, name) for name in ("limitAmount", "limitUnit", "timeUnit"))
        if unit != "USD":
            return None
    else:
        properties = resource.inputs.get("properties")
        holder = properties if properties is not None else resource.inputs
        amount, time = get_path(holder, "amount"), get_path(holder, "timeGrain")
    months = MONTHS.get(str(time).upper())
    try:
        return None if months is None else float(str(amount)) / months
    except ValueError:
        return None
