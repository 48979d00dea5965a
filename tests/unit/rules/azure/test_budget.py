"""Cases of gpufleet.rules.azure.budget, and of its validation."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.azure.budget import (
    emails_few,
    notifications,
    percent_most,
    scope_form,
    start,
    validate_azure_budget,
)

SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"
SCOPE = (
    "is not the id of a resource group or subscription; give the id, such as /subscriptions/.../resourceGroups/NAME "
    "[azure-budget-scope]"
)

CASES = {
    start: [
        ("first", {"day": "2026-12-01"}, "pass", ""),
        ("first-with-time", {"day": "2026-12-01T00:00:00Z"}, "pass", ""),
        (
            "second",
            {"day": "2026-12-02"},
            "fail",
            (
                "trainers: time_period.start_date=2026-12-02: is not the first day of a month; use one such as "
                "2026-12-01 [azure-budget-start]"
            ),
        ),
        (
            "month-13",
            {"day": "2026-13-01"},
            "fail",
            (
                "trainers: time_period.start_date=2026-13-01: is not the first day of a month; use one such as "
                "2026-12-01 [azure-budget-start]"
            ),
        ),
        (
            "words",
            {"day": "December"},
            "fail",
            (
                "trainers: time_period.start_date=December: is not the first day of a month; use one such as "
                "2026-12-01 [azure-budget-start]"
            ),
        ),
    ],
    notifications: [
        ("5", {"count": 5}, "pass", ""),
        (
            "6",
            {"count": 6},
            "fail",
            "trainers: notifications=6: is more than 5; use 5 or fewer [azure-budget-notifications]",
        ),
    ],
    emails_few: [
        ("most", {"emails": 50}, "pass", ""),
        (
            "too-many",
            {"emails": 51},
            "fail",
            (
                "trainers: emails=51: is more addresses than the 50 that Azure allows for a notification; give a "
                "mailing list's address [azure-budget-emails]"
            ),
        ),
    ],
    percent_most: [
        ("most", {"argument": "actual_percents", "percent": 1000}, "pass", ""),
        (
            "too-late",
            {"argument": "actual_percents", "percent": 1001},
            "fail",
            "trainers: actual_percents=1001: is more than 1000 %; use 1000 or less [azure-budget-percent]",
        ),
    ],
    scope_form: [
        ("group", {"scope": f"{SUBSCRIPTION}/resourceGroups/fleet"}, "pass", ""),
        ("subscription", {"scope": SUBSCRIPTION}, "pass", ""),
        ("management", {"scope": "/providers/Microsoft.Management/managementGroups/research"}, "pass", ""),
        ("name", {"scope": "fleet"}, "fail", f"trainers: scope=fleet: {SCOPE}"),
        ("all", {"scope": "/subscriptions/"}, "fail", f"trainers: scope=/subscriptions/: {SCOPE}"),
    ],
}


def test_case(case):
    case.check()


BUDGET = {"environment": "azure-dev", "usd_per_month": 100, "emails": ["ml@example.com"], "scope": SUBSCRIPTION}


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({}, []),
        ({"scope": object()}, []),
        ({"actual_percents": [20, 40, 60, 80], "forecast_percents": [100]}, []),
        ({"actual_percents": [20, 40, 60, 80, 100]}, ["azure-budget-notifications"]),
        ({"actual_percents": [], "forecast_percents": []}, ["any-argument-not-empty"]),
        ({"forecast_percents": [2000]}, ["azure-budget-percent"]),
        ({"actual_percents": [100, 50]}, ["any-budget-percents"]),
        ({"usd_per_month": 0}, ["any-budget-limit"]),
        ({"emails": []}, ["any-argument-not-empty"]),
        ({"emails": ["ml@example.com"] * 2}, ["any-argument-distinct"]),
        ({"environment": "e" * 257}, ["azure-tag-value"]),
    ],
)
def test_door(change, rules):
    findings = validate_azure_budget(BUDGET | change)
    assert sorted({each.rule for each in findings if each.status is not Status.PASS}) == rules
