"""What the README shows of the software: what it rejects and a picture of a change; the components and the decisions.

The picture is of the report that tests/e2e/test_report.py compares with one made by the real engine.
"""

import json
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
    return between((ROOT / "README.md").read_text(encoding="utf-8"), "refused", refusals())


def component_page() -> str:
    """docs/components.md, with a row for each component, by cloud."""
    rows = [(f"[`{_path(each)}`]({_module(each)})", each.sentence) for each in components()]
    text = (ROOT / "docs" / "components.md").read_text(encoding="utf-8")
    return between(text, "components", markdown(("component", "creates"), rows))


def _path(component: Component) -> str:
    return f"{component.module.removeprefix('gpufleet.').rpartition('.')[0]}.{component.name}"


def _module(component: Component) -> str:
    """Its file, from docs/. The site leads to its page of the reference instead."""
    return f"../components/{component.module.replace('.', '/')}.py"


def refusals() -> str:
    """The lines that a preview ends with for `REFUSED`."""
    found = [finding for finding in validate_pool(REFUSED, "us-east-1") if finding.rejects]
    return "\n" + "".join(f"    {finding.line('trainers')}\n" for finding in found) + "\n"


def change_picture() -> str:
    """docs/pictures/change.svg: the stack of that report."""
    data = json.loads((GOLDEN / "type.json").read_text(encoding="utf-8"))
    return render_svg(build_diagram(TypeAdapter(Report).validate_python(data).stacks[0]))


def decisions() -> str:
    """docs/decisions/README.md."""
    files = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    titles = [(file.name, file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")) for file in files]
    listed = "".join(f"- [{title}]({name})\n" for name, title in titles)
    return f"# Decisions\n\nEach page records a question, the decision, and its cost.\n\n{listed}"
