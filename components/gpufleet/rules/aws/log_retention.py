"""Rules on CloudWatch Logs."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

RETENTION_DAYS = (
    *(1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731),
    *(1096, 1827, 2192, 2557, 2922, 3288, 3653),
)


@rule("aws-logs-retention", Severity.ERROR)
def retention(*, argument: str, days: int) -> Outcome:
    """Logs have a retention period that CloudWatch supports; 0 means forever.

    Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html; the
    provider takes 0 for no retention policy.
    """
    if days == 0 or days in RETENTION_DAYS:
        return passed()
    nearest = min(RETENTION_DAYS, key=lambda legal: (abs(legal - days), legal))
    fix = f"use {nearest} (or another of {', '.join(map(str, RETENTION_DAYS))}; 0 keeps them forever)"
    return failed(argument, days, "is not a retention period that CloudWatch supports", fix)
