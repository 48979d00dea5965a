"""The comments on the stacks of a report: which there are, and their text. The report may come from untrusted code."""

from collections.abc import Collection

from gpufleet.report.formats.markdown import LIMIT, code, marker_of, render_comment
from gpufleet.report.model import Report
from gpufleet.report.text import VERDICT_LABELS


def comment_bodies(report: Report, affected: Collection[str] | None = None) -> dict[str, str]:
    """Stack (project/stack) -> the Markdown of its comment.

    affected: the stacks that the change affects, as the base's code detects them; None: those of the report. Of a
    report from the change's own code, no other stack gets a comment, and the comment names the stacks that are left
    out.
    """
    reported = {stack.name: stack for stack in report.stacks}
    bodies = {}
    for name in reported if affected is None else affected:
        found = reported.get(name)
        bodies[name] = _missing(name) if found is None else render_comment(report, found, LIMIT)
    return bodies


def _missing(stack: str) -> str:
    icon, _ = VERDICT_LABELS["failed"]
    head = f"{marker_of(stack)}\n### {icon} gpufleet: {code(stack)} has no report\n\n"
    return f"{head}The change affects this stack, and the preview reported nothing on it: see the job.\n"
