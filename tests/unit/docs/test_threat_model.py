"""Every control of the threat model that names a test names one that is there; the other rows say what is open."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "threat-model.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| attacker", "| ---"))
]
WITHOUT_A_TEST = {
    "somebody who registers `gpufleet` on an index",
    "a file with a strange name on the volume",
    "a job submitted without `gpufleet`",
    "a container on an instance of Batch or ECS",
}
"""Rows that have a control, and no test of it."""


def test_the_page_has_rows_of_who_what_control_and_test() -> None:
    assert len(ROWS) > 25
    assert {len(row) for row in ROWS} == {4}


@pytest.mark.parametrize("named", re.findall(r"`(tests/[^`]+)`", PAGE))
def test_a_named_test_is_there(named: str) -> None:
    file, _, function = named.partition("::")
    tree = ast.parse((ROOT / file).read_text())
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, named


def test_a_row_without_a_test_says_so() -> None:
    silent = {row[0] for row in ROWS if not row[3] and "**not stopped" not in row[2].lower()}
    assert silent == WITHOUT_A_TEST


@pytest.mark.parametrize(
    "who",
    [
        "a fork's pull request",
        "a colleague of another team",
        "a job's container",
        "a leaked kubeconfig",
        "a stolen NGC key",
        "a malicious image",
        "somebody who may write tags",
        "somebody who may write the state's bucket",
    ],
)
def test_those_that_everybody_asks_about_are_in_it(who: str) -> None:
    assert who in {row[0] for row in ROWS}
