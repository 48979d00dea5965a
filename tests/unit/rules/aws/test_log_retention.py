"""Cases of gpufleet.rules.aws.log_retention."""

from gpufleet.rules.aws.log_retention import retention

CASES = {
    retention: [
        ("at-list", {"argument": "log_retention_days", "days": 30}, "pass", ""),
        (
            "next-to-list",
            {"argument": "log_retention_days", "days": 31},
            "fail",
            (
                "trainers: log_retention_days=31: is not a retention period that CloudWatch supports; use 30 (or "
                "another of 1, "
                "3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, "
                "3653; 0 keeps them forever) [aws-logs-retention]"
            ),
        ),
        ("longest", {"argument": "log_retention_days", "days": 3653}, "pass", ""),
        (
            "beyond",
            {"argument": "log_retention_days", "days": 3654},
            "fail",
            (
                "trainers: log_retention_days=3654: is not a retention period that CloudWatch supports; use 3653 (or "
                "another of "
                "1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, "
                "3288, 3653; 0 keeps them forever) [aws-logs-retention]"
            ),
        ),
        ("for-ever", {"argument": "log_retention_days", "days": 0}, "pass", ""),
        (
            "negative",
            {"argument": "log_retention_days", "days": -1},
            "fail",
            (
                "trainers: log_retention_days=-1: is not a retention period that CloudWatch supports; use 1 (or "
                "another of 1, "
                "3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, "
                "3653; 0 keeps them forever) [aws-logs-retention]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
