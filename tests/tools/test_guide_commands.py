"""What the guides' commands are, and that each of them is run by one test."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools.guide_commands import commands_in, guide_commands

ROOT = Path(__file__).parents[2]
PAGES = ("aws-batch", "hybrid", "onprem", "notebooks", "jobs")
ROWS: list[dict[str, Any]] = yaml.safe_load((ROOT / "tests/tools/guide_commands.yaml").read_text())


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Prose.\n\n    gpufleet ps\n    pulumi up\n    gpufleet usage\n\nMore.\n", ["gpufleet ps", "gpufleet usage"]),
        (
            "    gpufleet a --b -- \\\n      python3 x.py\n    gpufleet c\n",
            ["gpufleet a --b -- python3 x.py", "gpufleet c"],
        ),
        ("    gpufleet link lab      # what comes next\n", ["gpufleet link lab"]),
        ("    gpufleet logs lab JOB#1\n", ["gpufleet logs lab JOB#1"]),
        ("    gpufleet run 'a # b' \"c # d\" # e\n", ["gpufleet run 'a # b' \"c # d\""]),
        ("    gpufleet:key: 1\n    x: gpufleet ps\n    gpufleetctl ps\n", []),
        ("gpufleet installs this.\n`gpufleet ps`\n  gpufleet ps\n", []),
        ("    gpufleet script lab | ssh lab bash -s\n", ["gpufleet script lab | ssh lab bash -s"]),
    ],
)
def test_commands_of_a_page(text: str, commands: list[str]) -> None:
    assert commands_in(text) == commands


@pytest.mark.parametrize("page", PAGES)
def test_each_command_is_run_by_one_test(page: str) -> None:
    rows = [row for row in ROWS if row["page"] == page]
    claims = {
        command: [row["test"] for row in rows if re.match(row["commands"], command)] for command in guide_commands(page)
    }
    assert claims
    assert {command: tests for command, tests in claims.items() if len(tests) != 1} == {}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['page']}-{row['test'].rpartition('::')[2]}")
def test_each_row_names_commands_and_a_test(row: dict[str, Any]) -> None:
    """A test module reads the commands from the page: no copy of them can be another than the page's."""
    assert any(re.match(row["commands"], command) for command in guide_commands(row["page"]))
    file, _, name = row["test"].partition("::")
    text = (ROOT / file).read_text()
    assert name in {each.name for each in ast.walk(ast.parse(text)) if isinstance(each, ast.FunctionDef)}
    assert "guide_commands(" in text
