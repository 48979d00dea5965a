"""The report as a job summary of GitHub's, which takes 1 MiB of each step and shows nothing of a longer one.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits
"""

from gpufleet.report.formats.markdown import LIMIT, report_as_markdown
from gpufleet.report.model import Report

BYTES = 1_000_000
_LEAST = 2_000


def summary(report: Report) -> str:
    """All stacks, each cut as a comment is, the shorter the more there are."""
    if not report.stacks:
        return "### gpufleet\n\nNo environment is touched.\n"
    limit = min(LIMIT, BYTES // len(report.stacks))
    while len((text := report_as_markdown(report, limit)).encode()) > BYTES and limit > _LEAST:
        limit //= 2
    return text
