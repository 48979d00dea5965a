"""Budget: exact inputs of its child, a start that the calendar does not move, and what it refuses."""

from datetime import date
from typing import cast

import pytest

from gpufleet.azure import budget as module
from gpufleet.azure.budget import Budget, BudgetArgs, first_of_month, notification_key
from tests.components.azure_place import SUBSCRIPTION
from tests.components.recorder import MARK, Recording, construct, refusal

COMPONENT = "gpufleet-azure:index:Budget"
BUDGET = "azure-native:consumption:Budget"
GROUP = f"{SUBSCRIPTION}/resourceGroups/fleet"
EMAILS = ["ml@example.com", "ops@example.com"]
BASE: dict[str, object] = {"scope": GROUP, "environment": "azure-dev", "usd_per_month": 2500, "emails": EMAILS}


@pytest.fixture(autouse=True)
def november(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "today", lambda: date(2026, 11, 21))


def build(preview: bool, /, **changes: object) -> Recording[Budget]:
    """A budget called spending: the base with ``changes``."""
    return construct(lambda: Budget("spending", cast(BudgetArgs, {**BASE, **changes})), preview)


def notification(kind: str, percent: float) -> dict[str, object]:
    return {
        "enabled": True,
        "operator": "GreaterThan",
        "threshold": percent,
        "thresholdType": kind,
        "contactEmails": EMAILS,
    }


def test_budget_by_default(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(BUDGET) == {
        "spending-budget": {
            "scope": GROUP,
            "amount": 2500,
            "category": "Cost",
            "timeGrain": "Monthly",
            "timePeriod": {"startDate": "2026-11-01T00:00:00Z"},
            "notifications": {
                "Actual_GreaterThan_80_Percent": notification("Actual", 80),
                "Actual_GreaterThan_100_Percent": notification("Actual", 100),
                "Forecasted_GreaterThan_100_Percent": notification("Forecasted", 100),
            },
        }
    }
    assert {each.type for each in recording.resources} == {COMPONENT, BUDGET}
    assert (recording.one(COMPONENT).inputs, recording.one(BUDGET).parent) == ({}, "spending")


def test_the_calendar_does_not_change_a_budget(preview: bool) -> None:
    assert build(preview).one(BUDGET).ignore_changes == ("timePeriod.startDate",)


def test_every_choice_of_a_budget(preview: bool) -> None:
    made = build(
        preview,
        scope=SUBSCRIPTION,
        by_tag=True,
        tags={"owner": "us", "expires-at": "never"},
        usd_per_month=99.5,
        actual_percents=[50.0, 99.5],
        forecast_percents=[],
    )
    inputs = made.one(BUDGET).inputs
    assert (inputs["scope"], inputs["amount"]) == (SUBSCRIPTION, 99.5)
    # Another project may have an environment of this name.
    counted = {"environment": "azure-dev", "owner": "us", **MARK}
    assert inputs["filter"] == {
        "and": [{"tags": {"name": key, "operator": "In", "values": [value]}} for key, value in counted.items()]
    }
    assert inputs["notifications"] == {
        "Actual_GreaterThan_50_Percent": notification("Actual", 50),
        "Actual_GreaterThan_99_5_Percent": notification("Actual", 99.5),
    }


@pytest.mark.parametrize("day", [date(2026, 11, 1), date(2026, 11, 30)])
def test_start_is_the_first_of_the_month(day: date) -> None:
    assert first_of_month(day) == "2026-11-01T00:00:00Z"


def test_notifications_have_keys_of_their_own() -> None:
    every = [(kind, percent) for kind in ("Actual", "Forecasted") for percent in (80, 99.5, 995, 100.0)]
    assert len({notification_key(kind, percent) for kind, percent in every}) == len(every)


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "nobody hears": (
        {"emails": []},
        ["emails=[]: is empty; give at least one e-mail address [any-argument-not-empty]"],
    ),
    "it never speaks": (
        {"actual_percents": [], "forecast_percents": []},
        ["actual_percents=[]: is empty; give at least one percentage of the budget [any-argument-not-empty]"],
    ),
    "it speaks too often": (
        {"actual_percents": [10, 20, 30, 40, 50]},
        ["notifications=6: is more than 5; use 5 or fewer [azure-budget-notifications]"],
    ),
    "several faults at once": (
        {"scope": "fleet", "usd_per_month": 0, "emails": ["team"], "forecast_percents": [2000]},
        [
            (
                "emails=team: is not an e-mail address; give one such as team@example.com, each as an item "
                "[any-budget-email]"
            ),
            "forecast_percents=2000: is more than 1000 %; use 1000 or less [azure-budget-percent]",
            "usd_per_month=0: must be above 0; give what the environment may cost in a month; gpufleet "
            "cost says what its pools can [any-budget-limit]",
            "scope=fleet: is not the id of a resource group or subscription; give the id, such as "
            "/subscriptions/.../resourceGroups/NAME [azure-budget-scope]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(BudgetArgs, {**BASE, **changes})
    assert refusal(lambda: Budget("spending", args), preview) == [f"spending: {line}" for line in lines]
