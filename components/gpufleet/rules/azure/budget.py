"""Rules on budgets of Azure."""

import re

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

MOST_NOTIFICATIONS = 5
_FIRST = re.compile(r"\d{4}-(0[1-9]|1[0-2])-01([T ].*)?")


@rule("azure-budget-start", Severity.ERROR)
def start(*, day: str) -> Outcome:
    """A budget begins on the first day of a month.

    Source: timePeriod of Microsoft.Consumption/budgets: the start date must be first of the month.
    """
    if _FIRST.fullmatch(day):
        return passed()
    return failed("time_period.start_date", day, "is not the first day of a month", "use one such as 2026-12-01")


@rule("azure-budget-notifications", Severity.ERROR)
def notifications(*, count: int) -> Outcome:
    """A budget has at most five notifications.

    Source: notifications of Microsoft.Consumption/budgets: at most five.
    """
    if count <= MOST_NOTIFICATIONS:
        return passed()
    return failed("notifications", count, f"is more than {MOST_NOTIFICATIONS}", f"use {MOST_NOTIFICATIONS} or fewer")
