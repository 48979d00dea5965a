"""Rules on the budget of an environment and on who hears when it runs out."""

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from gpufleet.rules import coerce
from gpufleet.rules.generic import distinct, not_empty
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import tag_value, validate_tags

MOST_NOTIFICATIONS = 10
MOST_EMAILS = 10
ACTUAL_PERCENTS = (80.0, 100.0)
FORECAST_PERCENTS = (100.0,)

_EMAIL = re.compile(r"[^@\s,;<>]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}")


@rule("any-budget-limit", Severity.ERROR)
def limit_above_zero(*, usd_per_month: float) -> Outcome:
    """A budget is a number of dollars above 0.

    Source: NumericValue of botocore's model of budgets (digits without a sign); percentages of 0 are always exceeded.
    """
    if 0 < usd_per_month < math.inf:
        return passed()
    fix = "give what the environment may cost in a month; gpufleet cost says what its pools can"
    return failed("usd_per_month", usd_per_month, "must be above 0", fix)


@rule("any-budget-email", Severity.ERROR)
def email_form(*, email: str) -> Outcome:
    """Each recipient of a budget's notifications is one e-mail address.

    Source: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Subscriber.html: an address
    of type EMAIL, without line breaks; RFC 5321.
    """
    if len(email) <= 254 and _EMAIL.fullmatch(email):
        return passed()
    return failed("emails", email, "is not an e-mail address", "give one such as team@example.com, each as an item")


@rule("aws-budget-emails", Severity.ERROR)
def few_emails(*, emails: int) -> Outcome:
    """A budget notifies at most ten e-mail addresses.

    Source: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Notification.html: up to 10
    email subscribers.
    """
    if emails <= MOST_EMAILS:
        return passed()
    problem = f"is more addresses than the {MOST_EMAILS} that AWS allows for a notification"
    return failed("emails", emails, problem, "give a mailing list's address")


@rule("any-budget-percents", Severity.ERROR)
def percents_in_order(*, argument: str, percents: Sequence[object]) -> Outcome:
    """The percentages at which a budget notifies are above 0 and ascending; `argument` is actual_ or forecast_percents.

    Source: NotificationThreshold of botocore's model of budgets (0 and more); two notifications of one threshold are a
    DuplicateRecordException.
    """
    numbers = [percent for percent in percents if coerce.is_number(percent) and 0 < percent < math.inf]
    if len(numbers) == len(percents) and all(low < high for low, high in pairwise(numbers)):
        return passed()
    return failed(argument, list(percents), "must be above 0 and in ascending order", "write them like [50, 80, 100]")


@rule("aws-budget-notifications", Severity.ERROR)
def few_notifications(*, actual: int, forecast: int) -> Outcome:
    """A budget has one to ten notifications, on actual and forecast cost together.

    Source: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_budgets_Notification.html: a budget
    can have up to ten notifications.
    """
    if 1 <= actual + forecast <= MOST_NOTIFICATIONS:
        return passed()
    if actual + forecast == 0:
        return failed(
            "actual_percents", [], "leaves a budget without notifications", "give at least one, such as [100]"
        )
    problem = f"with forecast_percents are {actual + forecast} notifications, and AWS allows {MOST_NOTIFICATIONS}"
    return failed("actual_percents", actual, problem, "keep the percentages that somebody acts on")


def validate_budget(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a budget.

    Reads usd_per_month, emails, actual_percents (default 80, 100), forecast_percents (default 100), environment, team
    and tags.
    """
    emails = coerce.texts(args, "emails")
    actual = _items(args, "actual_percents", ACTUAL_PERCENTS)
    forecast = _items(args, "forecast_percents", FORECAST_PERCENTS)
    findings = [
        *(email_form(email=email) for email in emails),
        few_emails(emails=len(emails)),
        distinct(argument="emails", values=emails),
        percents_in_order(argument="actual_percents", percents=actual),
        percents_in_order(argument="forecast_percents", percents=forecast),
        few_notifications(actual=len(actual), forecast=len(forecast)),
        tag_value(key="environment", value=coerce.text(args, "environment")),
        tag_value(key="team", value=coerce.text(args, "team")),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if coerce.is_texts(args.get("emails")):
        findings.append(not_empty(argument="emails", values=emails, holds="e-mail address"))
    if coerce.is_number(limit := args.get("usd_per_month")):
        findings.append(limit_above_zero(usd_per_month=limit))
    return findings


def _items(args: Mapping[str, object], name: str, default: Sequence[object]) -> tuple[object, ...]:
    """The list at `name`."""
    value = args.get(name)
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        return tuple(default)
    return tuple(value)
