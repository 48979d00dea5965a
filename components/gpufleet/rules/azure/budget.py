"""Rules on budgets of Azure."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.azure.tags import tag_value
from gpufleet.rules.budget import (
    ACTUAL_PERCENTS,
    FORECAST_PERCENTS,
    email_form,
    limit_above_zero,
    percents_in_order,
)
from gpufleet.rules.generic import distinct, not_empty
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

MOST_NOTIFICATIONS = 5
MOST_EMAILS = 50
MOST_PERCENT = 1000
_SCOPE = re.compile(r"/(subscriptions|providers/Microsoft\.Management/managementGroups)/[^/]+(/.+)?", re.IGNORECASE)
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


@rule("azure-budget-emails", Severity.ERROR)
def emails_few(*, emails: int) -> Outcome:
    """A budget notifies at most fifty e-mail addresses.

    Source: contactEmails of azure-mgmt-consumption's Notification: at most 50.
    """
    if emails <= MOST_EMAILS:
        return passed()
    problem = f"is more addresses than the {MOST_EMAILS} that Azure allows for a notification"
    return failed("emails", emails, problem, "give a mailing list's address")


@rule("azure-budget-percent", Severity.ERROR)
def percent_most(*, argument: str, percent: float) -> Outcome:
    """A notification threshold of a budget is at most 1000 %; `argument` is actual_ or forecast_percents.

    Source: threshold of azure-mgmt-consumption's Notification: between 0 and 1000.
    """
    if percent <= MOST_PERCENT:
        return passed()
    return failed(argument, percent, f"is more than {MOST_PERCENT} %", f"use {MOST_PERCENT} or less")


@rule("azure-budget-scope", Severity.ERROR)
def scope_form(*, scope: str) -> Outcome:
    """A budget has the id of a resource group or a subscription as its scope.

    Source: scope of Microsoft.Consumption/budgets.
    """
    if _SCOPE.fullmatch(scope):
        return passed()
    fix = "give the id, such as /subscriptions/.../resourceGroups/NAME"
    return failed("scope", scope, "is not the id of a resource group or subscription", fix)


def validate_azure_budget(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a budget.

    Reads scope (if it is plain), environment, team, usd_per_month, emails, actual_percents (default 80, 100),
    forecast_percents (default 100).
    """
    emails = coerce.texts(args, "emails")
    percents = {
        "actual_percents": _numbers(args, "actual_percents", ACTUAL_PERCENTS),
        "forecast_percents": _numbers(args, "forecast_percents", FORECAST_PERCENTS),
    }
    every = [percent for each in percents.values() for percent in each]
    findings = [
        *(email_form(email=email) for email in emails),
        emails_few(emails=len(emails)),
        distinct(argument="emails", values=emails),
        *(percents_in_order(argument=argument, percents=each) for argument, each in percents.items()),
        *(
            percent_most(argument=argument, percent=percent)
            for argument, each in percents.items()
            for percent in each
            if coerce.is_number(percent)
        ),
        notifications(count=len(every)),
        tag_value(key="environment", value=coerce.text(args, "environment")),
        tag_value(key="team", value=coerce.text(args, "team")),
        not_empty(argument="actual_percents", values=[str(each) for each in every], holds="percentage of the budget"),
    ]
    if coerce.is_texts(args.get("emails")):
        findings.append(not_empty(argument="emails", values=emails, holds="e-mail address"))
    if coerce.is_number(limit := args.get("usd_per_month")):
        findings.append(limit_above_zero(usd_per_month=limit))
    scope = args.get("scope")
    return [*findings, scope_form(scope=scope)] if isinstance(scope, str) else findings


def _numbers(args: Mapping[str, object], name: str, default: Sequence[object]) -> tuple[object, ...]:
    """The list at `name`."""
    value = args.get(name)
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        return tuple(default)
    return tuple(value)
