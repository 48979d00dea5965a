"""Write a report to files, one for each format."""

import re
from pathlib import Path

from gpufleet.report.config_lines import configuration_lines
from gpufleet.report.configuration_files import configuration_files
from gpufleet.report.diagram import build_diagram
from gpufleet.report.formats.html import render_html
from gpufleet.report.formats.json import render_json
from gpufleet.report.formats.junit import render_junit
from gpufleet.report.formats.markdown import join_comments, render_comment
from gpufleet.report.formats.sarif import render_sarif
from gpufleet.report.formats.svg import render_svg
from gpufleet.report.model import Report, StackReport


def write_report_files(report: Report, folder: Path, program: Path) -> list[str]:
    """Write all formats into a folder, which is created if necessary, and return the files' names.

    program: the Pulumi project, or a folder in it: in its configurations SARIF shows what is found. Errors: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    stacks = [(stack.name, stack.stack) for stack in report.stacks]
    configurations, lines = configuration_files(program, stacks), configuration_lines(program, stacks)
    comments = [render_comment(report, stack) for stack in report.stacks]
    texts = {
        "report.json": render_json(report),
        "report.md": join_comments(report, comments),
        "report.html": render_html(report),
        "report.junit.xml": render_junit(report),
        "report.sarif": render_sarif(report, configurations, lines),
    }
    if not report.stacks:
        # Code scanning takes no log without a run.
        del texts["report.sarif"]
    for stack, comment in zip(report.stacks, comments, strict=True):
        texts[f"{file_name(stack)}.md"] = comment
        texts[f"{file_name(stack)}.svg"] = render_svg(build_diagram(stack))
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(texts)


def file_name(stack: StackReport) -> str:
    """The stem of a stack's own files: `<project>.<stack>`. A made up name leads to no other directory."""
    return re.sub(r"[^\w.-]", "_", f"{stack.project}.{stack.stack}")
