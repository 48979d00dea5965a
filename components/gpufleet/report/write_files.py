"""A report written to files, each form one file."""

import re
from pathlib import Path

from gpufleet.report.configuration_files import configuration_files
from gpufleet.report.diagram import picture
from gpufleet.report.formats.html import report_as_html
from gpufleet.report.formats.json import report_as_json
from gpufleet.report.formats.junit import report_as_junit
from gpufleet.report.formats.markdown import stack_as_markdown, together
from gpufleet.report.formats.sarif import report_as_sarif
from gpufleet.report.formats.svg import picture_as_svg
from gpufleet.report.model import Report, StackReport


def write(report: Report, folder: Path, program: Path) -> list[str]:
    """Write all forms into a folder, which is made if need be, and return the files' names.

    program: the Pulumi project, or a folder in it: in its configurations SARIF shows what is found. Errors: OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    configurations = configuration_files(program, [(stack.name, stack.stack) for stack in report.stacks])
    comments = [stack_as_markdown(report, stack) for stack in report.stacks]
    texts = {
        "report.json": report_as_json(report),
        "report.md": together(report, comments),
        "report.html": report_as_html(report),
        "report.junit.xml": report_as_junit(report),
        "report.sarif": report_as_sarif(report, configurations),
    }
    if not report.stacks:
        # Code scanning takes no log without a run.
        del texts["report.sarif"]
    for stack, comment in zip(report.stacks, comments, strict=True):
        texts[f"{file_name(stack)}.md"] = comment
        texts[f"{file_name(stack)}.svg"] = picture_as_svg(picture(stack))
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return list(texts)


def file_name(stack: StackReport) -> str:
    """The stem of a stack's own files: `<project>.<stack>`. A made up name leads to no other directory."""
    return re.sub(r"[^\w.-]", "_", f"{stack.project}.{stack.stack}")
