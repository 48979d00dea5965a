"""Findings as annotations of a job on GitHub, which shows them in the changed files.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands; how values are escaped:
https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
"""

from collections.abc import Iterator, Mapping

from gpufleet.report.config_lines import KeyLines, line_of
from gpufleet.report.model import Report

MOST = 10
"""Of each severity: a change that breaks more is read in the report."""


def render_annotations(report: Report, files: Mapping[str, str], lines: Mapping[str, KeyLines]) -> Iterator[str]:
    """A line for each failed finding that was not there before, for the job's output."""
    left = dict.fromkeys(("error", "warning"), MOST)
    for stack in report.stacks:
        for issue in stack.failures:
            if left.get(issue.severity, 0) and not issue.known:
                left[issue.severity] -= 1
                line = line_of(stack, issue, lines.get(stack.name, {}))
                place = f"file={_property(files[stack.name])},line={line},title={_property(issue.rule)}"
                yield f"::{issue.severity} {place}::{_data(issue.line)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
