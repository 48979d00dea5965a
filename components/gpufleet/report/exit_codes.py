"""When a report fails a build."""

from gpufleet.report.model import Change, Report

FAIL_ON = ("refuse", "warning", "never")


def fails(report: Report, fail_on: str) -> bool:
    """Whether a report is to fail, by a policy of `FAIL_ON`: on what is refused, or also on warnings."""
    if fail_on == "never":
        return False
    bad = ("failed", "refused") if fail_on == "refuse" else ("failed", "refused", "warned")
    return report.verdict in bad


def losses(report: Report) -> list[Change]:
    """Replacements and deletions with which data goes, of all stacks."""
    return [change for stack in report.stacks for change in stack.destructive if change.loses]
