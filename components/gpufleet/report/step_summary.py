"""The report as a job summary of GitHub's, which takes 1 MiB of each step and shows nothing of a longer one.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands#step-isolation-and-limits
"""

from gpufleet.report.formats.markdown import LIMIT, render_markdown
from gpufleet.report.model import Report

MAX_BYTES = 1_000_000
_LEAST = 2_000


def step_summary(report: Report) -> str:
    """All stacks, each cut like a comment, and shorter if there are many."""
    if not report.stacks:
        return "### gpufleet\n\nNo environment is affected.\n"
    limit = min(LIMIT, MAX_BYTES // len(report.stacks))
    while len((text := render_markdown(report, limit)).encode()) > MAX_BYTES and limit > _LEAST:
        limit //= 2
    return text
