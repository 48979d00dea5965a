"""Cases of gpufleet.rules.budget."""

from gpufleet.rules import Status
from gpufleet.rules.budget import (
    email_form,
    few_emails,
    few_notifications,
    limit_above_zero,
    percents_in_order,
    validate_budget,
)

CASES = {
    limit_above_zero: [
        ("some", {"usd_per_month": 0.01}, "pass", ""),
        (
            "zero",
            {"usd_per_month": 0},
            "fail",
            (
                "trainers: usd_per_month=0: must be above 0; give what the environment may cost "
                "in a month; gpufleet cost says what its pools can [any-budget-limit]"
            ),
        ),
        (
            "negative",
            {"usd_per_month": -5.5},
            "fail",
            (
                "trainers: usd_per_month=-5.5: must be above 0; give what the environment may "
                "cost in a month; gpufleet cost says what its pools can [any-budget-limit]"
            ),
        ),
        (
            "endless",
            {"usd_per_month": float("inf")},
            "fail",
            (
                "trainers: usd_per_month=inf: must be above 0; give what the environment may "
                "cost in a month; gpufleet cost says what its pools can [any-budget-limit]"
            ),
        ),
    ],
    email_form: [
        ("plain", {"email": "ml.ops+gpu@mail.example.com"}, "pass", ""),
        (
            "several",
            {"email": "a@example.com, b@example.com"},
            "fail",
            (
                "trainers: emails=a@example.com, b@example.com: is not an e-mail address; give one such as "
                "team@example.com, each as an item [any-budget-email]"
            ),
        ),
        (
            "no-at",
            {"email": "example.com"},
            "fail",
            (
                "trainers: emails=example.com: is not an e-mail address; give one such as team@example.com, each as "
                "an item [any-budget-email]"
            ),
        ),
        (
            "no-domain",
            {"email": "ml@localhost"},
            "fail",
            (
                "trainers: emails=ml@localhost: is not an e-mail address; give one such as team@example.com, each "
                "as an item [any-budget-email]"
            ),
        ),
        (
            "line-break",
            {"email": "ml@example.com\n"},
            "fail",
            (
                "trainers: emails='ml@example.com\\n': is not an e-mail address; give one such as team@example.com, "
                "each as an item [any-budget-email]"
            ),
        ),
        ("longest", {"email": "a" * 242 + "@example.com"}, "pass", ""),
        (
            "too-long",
            {"email": "a" * 243 + "@example.com"},
            "fail",
            (
                "trainers: "
                f"emails={'a' * 157}...: "
                "is not an e-mail address; give one such as team@example.com, each as an item [any-budget-email]"
            ),
        ),
    ],
    few_emails: [
        ("ten", {"emails": 10}, "pass", ""),
        (
            "eleven",
            {"emails": 11},
            "fail",
            (
                "trainers: emails=11: is more addresses than the 10 that AWS allows for a notification; give a "
                "mailing list's address [aws-budget-emails]"
            ),
        ),
    ],
    percents_in_order: [
        ("rising", {"argument": "actual_percents", "percents": (50, 80.5, 100, 120)}, "pass", ""),
        ("none", {"argument": "forecast_percents", "percents": ()}, "pass", ""),
        (
            "twice",
            {"argument": "actual_percents", "percents": (80, 80)},
            "fail",
            (
                "trainers: actual_percents=[80, 80]: must be above 0 and in ascending order; write them like [50, 80, "
                "100] "
                "[any-budget-percents]"
            ),
        ),
        (
            "falling",
            {"argument": "forecast_percents", "percents": (100, 80)},
            "fail",
            (
                "trainers: forecast_percents=[100, 80]: must be above 0 and in ascending order; write them like [50, "
                "80, 100] "
                "[any-budget-percents]"
            ),
        ),
        (
            "zero",
            {"argument": "actual_percents", "percents": (0, 100)},
            "fail",
            (
                "trainers: actual_percents=[0, 100]: must be above 0 and in ascending order; write them like [50, 80, "
                "100] "
                "[any-budget-percents]"
            ),
        ),
    ],
    few_notifications: [
        ("one", {"actual": 0, "forecast": 1}, "pass", ""),
        ("ten", {"actual": 7, "forecast": 3}, "pass", ""),
        (
            "eleven",
            {"actual": 8, "forecast": 3},
            "fail",
            (
                "trainers: actual_percents=8: with forecast_percents are 11 notifications, and AWS allows 10; "
                "keep the percentages that somebody acts on [aws-budget-notifications]"
            ),
        ),
        (
            "none",
            {"actual": 0, "forecast": 0},
            "fail",
            (
                "trainers: actual_percents=[]: leaves a budget without notifications; give at least one, such as "
                "[100] [aws-budget-notifications]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()


LEGAL = {"environment": "dev", "usd_per_month": 100, "emails": ["ml@example.com"]}


def not_passed(changes):
    findings = validate_budget(LEGAL | changes)
    return sorted(finding.rule for finding in findings if finding.status is not Status.PASS)


def test_legal_budgets_pass():
    assert not_passed({}) == []
    assert not_passed({"actual_percents": [1.5], "forecast_percents": [], "tags": {"owner": "ml"}}) == []


def test_every_part_of_a_budget_is_judged():
    assert not_passed({"usd_per_month": 0, "emails": []}) == ["any-argument-not-empty", "any-budget-limit"]
    assert not_passed({"emails": ["a@example.com", "a@example.com"]}) == ["any-argument-distinct"]
    assert not_passed({"emails": ["team"] * 11}) == [
        "any-argument-distinct",
        *["any-budget-email"] * 11,
        "aws-budget-emails",
    ]
    assert not_passed({"actual_percents": ["80"]}) == ["any-budget-percents"]
    assert not_passed({"actual_percents": [], "forecast_percents": []}) == ["aws-budget-notifications"]
    assert not_passed({"environment": "dev;x", "tags": {"aws:a": "b"}}) == ["aws-tag-key", "aws-tag-value"]


def test_values_of_other_kinds_do_not_raise():
    assert not_passed({"usd_per_month": "100", "emails": 3, "actual_percents": 5, "tags": None}) == []
