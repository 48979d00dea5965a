"""Budget: exact inputs of its child, and what it refuses."""

from typing import cast

import pytest

from gpufleet.aws.budget import Budget, BudgetArgs, amount
from tests.components.recorder import MARK, Recording, construct, refusal

BUDGET = "aws:budgets/budget:Budget"
TAGS = {"owner": "ml", **MARK}
BASE = {"environment": "aws-dev", "usd_per_month": 2500, "emails": ["ml@example.com", "ops@example.com"], "tags": TAGS}


def build(preview: bool, /, **changes: object) -> Recording[Budget]:
    """A budget called spending: the base with ``changes``."""
    return construct(lambda: Budget("spending", cast(BudgetArgs, {**BASE, **changes})), preview)


def notification(kind: str, percent: float) -> dict[str, object]:
    return {
        "notificationType": kind,
        "comparisonOperator": "GREATER_THAN",
        "threshold": percent,
        "thresholdType": "PERCENTAGE",
        "subscriberEmailAddresses": ["ml@example.com", "ops@example.com"],
    }


def test_budget_by_default(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(BUDGET) == {
        "spending-budget": {
            "budgetType": "COST",
            "timeUnit": "MONTHLY",
            "limitAmount": "2500",
            "limitUnit": "USD",
            "costFilters": [{"name": "TagKeyValue", "values": ["user:environment$aws-dev"]}],
            "notifications": [notification("ACTUAL", 80), notification("ACTUAL", 100), notification("FORECASTED", 100)],
            "tags": {**TAGS, "Name": "spending-budget"},
        }
    }
    assert {each.type for each in recording.resources} == {"gpufleet-aws:index:Budget", BUDGET}


def test_budget_of_one_team(preview: bool) -> None:
    """The values of a filter are alternatives: with the environment's tag too it would count all of it."""
    made = build(preview, team="lab.vision").one(BUDGET).inputs
    assert made["costFilters"] == [{"name": "TagKeyValue", "values": ["user:team$lab.vision"]}]


def test_every_choice_of_a_budget(preview: bool) -> None:
    made = build(preview, usd_per_month=99.5, actual_percents=[50.0, 100], forecast_percents=[]).one(BUDGET).inputs
    assert made["limitAmount"] == "99.50"
    assert made["notifications"] == [notification("ACTUAL", 50), notification("ACTUAL", 100)]


def test_a_budget_can_be_replaced_and_deleted_with_the_rest(preview: bool) -> None:
    made = build(preview).one(BUDGET)
    assert (made.protect, made.retain_on_delete, made.depends_on) == (None, None, frozenset())
    assert "name" not in made.inputs, "two environments of an account would take each other's name"


def test_amounts_have_no_exponent() -> None:
    assert [amount(usd) for usd in (0.5, 12, 1234567890.0, 33.333)] == ["0.50", "12", "1234567890", "33.33"]


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "nobody hears": (
        {"emails": []},
        ["emails=[]: is empty; give at least one e-mail address [any-argument-not-empty]"],
    ),
    "several faults at once": (
        {"usd_per_month": 0, "emails": ["team"], "actual_percents": [100, 80]},
        [
            (
                "emails=team: is not an e-mail address; give one such as team@example.com, each as an item "
                "[any-budget-email]"
            ),
            (
                "actual_percents=[100, 80]: must be above 0 and in ascending order; write them like [50, 80, 100] "
                "[any-budget-percents]"
            ),
            "usd_per_month=0: must be above 0; give what the environment may cost in a month; gpufleet "
            "cost says what its pools can [any-budget-limit]",
        ],
    ),
    "an amount in quotes": (
        {"usd_per_month": "2500"},
        ['usd_per_month="2500": is not a number; give a number, known before deployment [any-argument-kind]'],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(BudgetArgs, {**BASE, **changes})
    assert refusal(lambda: Budget("spending", args), preview) == [f"spending: {line}" for line in lines]
