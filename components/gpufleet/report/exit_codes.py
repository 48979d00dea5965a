"""When a report fails a build."""

from gpufleet.report.model import Report, ResourceChange

FAIL_ON = ("refuse", "warning", "never")


def should_fail(report: Report, fail_on: str) -> bool:
    """Whether a report fails the build. fail_on: one of `FAIL_ON`: on rejected changes, also on warnings, or never."""
    if fail_on == "never":
        return False
    bad = ("failed", "refused") if fail_on == "refuse" else ("failed", "refused", "warned")
    return report.verdict in bad


def data_losses(report: Report) -> list[ResourceChange]:
    """Replacements and deletions that delete data, of all stacks."""
    return [change for stack in report.stacks for change in stack.destructive if change.loses_data]
