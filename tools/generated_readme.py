"""What the README shows of the software: its components, what it refuses, a comment and a picture, and the decisions.

The comment and the picture are of the report that tests/e2e/test_report.py compares with one made by the real engine.
"""

import json
import re
from typing import Any

from pydantic import TypeAdapter

from gpufleet.report.diagram import build_diagram
from gpufleet.report.formats.svg import render_svg
from gpufleet.report.model import Report
from gpufleet.rules import validate_pool
from tools.generated_tables import between, markdown
from tools.website.reference import ROOT, Component, components

GOLDEN = ROOT / "tests" / "e2e" / "golden"
REFUSED: dict[str, Any] = {
    "types": ["g5.xlarge"],
    "max": 64,
    "zones": ["use1-az1", "use1-az2"],
    "placement": "create",
    "network": "efa",
}
"""A pool that AWS rejects late, or that it makes and that runs badly."""


def readme() -> str:
    """README.md, with what is made from code."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name, inner in (("components", component_table()), ("refused", refusals()), ("comment", comment())):
        text = between(text, name, inner)
    return text


def component_table() -> str:
    """A row for each component, by cloud."""
    return markdown(("component", "creates"), [(f"`{_path(each)}`", each.sentence) for each in components()])


def _path(component: Component) -> str:
    return f"{component.module.removeprefix('gpufleet.')}.{component.name}"


def refusals() -> str:
    """The lines that a preview ends with for `REFUSED`."""
    found = [finding for finding in validate_pool(REFUSED, "us-east-1") if finding.rejects]
    return "\n" + "".join(f"    {finding.line('trainers')}\n" for finding in found) + "\n"


def comment() -> str:
    """The beginning of the comment on a change that is refused, quoted: no folded parts, and of the findings the
    errors."""
    text = (GOLDEN / "type.md").read_text(encoding="utf-8")
    text = re.sub(
        r"<!--.*?-->\n|<details>.*?</details>\n|\n---\n.*|^  - `urn:.*\n|^- ⚠️.*\n", "", text, flags=re.S | re.M
    )
    # Headings in a quotation would be chapters of the README.
    lines = re.sub(r"^#+ (.*)$", r"**\1**", text, flags=re.MULTILINE).strip().splitlines()
    kept = [line for number, line in enumerate(lines) if line or lines[number - 1]]
    return "".join(f"> {line}".rstrip() + "\n" for line in kept)


def change_picture() -> str:
    """docs/pictures/change.svg: the stack of that comment."""
    data = json.loads((GOLDEN / "type.json").read_text(encoding="utf-8"))
    return render_svg(build_diagram(TypeAdapter(Report).validate_python(data).stacks[0]))


def decisions() -> str:
    """docs/decisions/README.md."""
    files = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    titles = [(file.name, file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")) for file in files]
    listed = "".join(f"- [{title}]({name})\n" for name, title in titles)
    return f"# Decisions\n\nWhat was asked, what was chosen, and what that costs.\n\n{listed}"
