"""Cases of gpufleet.rules.azure.budget."""

from gpufleet.rules.azure.budget import notifications, start

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
}


def test_case(case):
    case.check()
