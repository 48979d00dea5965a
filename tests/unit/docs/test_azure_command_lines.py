"""docs/azure.md: each command line of 2018 has what does it today, and a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROWS = re.compile(r"^\| `(az [^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def table() -> list[tuple[str, str, str]]:
    section = (ROOT / "docs/azure.md").read_text().partition("## The command lines of 2018")[2].partition("\n## ")[0]
    return ROWS.findall(section)


def test_all_seventeen_lines_are_there_in_their_order():
    commands = [command.removeprefix("az ").removeprefix("batchai ").split(" -")[0] for command, _, _ in table()]
    assert commands == [
        "group create",
        "workspace create",
        "storage account create",
        "storage container create",
        "storage container create",
        "storage share create",
        "storage account keys list",
        "storage blob upload",
        "cluster create",
        "experiment create",
        "job create",
        "job file stream stdout.txt",
        "job file list",
        "cluster resize",
        "cluster auto-scale",
        "cluster delete",
        "group delete",
    ]
    assert sum(command.startswith("az batchai ") for command, _, _ in table()) == 9


def test_every_line_is_shown_by_tests_that_are_there():
    missing = []
    for command, _, shown in table():
        tests = TEST.findall(shown)
        assert tests, command
        assert shown.strip() == ", ".join(f"`{file}::{name}`" for file, name in tests), command
        for file, name in tests:
            path = ROOT / file
            if not path.is_file() or f"\ndef {name}(" not in path.read_text():
                missing.append(f"{command}: {file}::{name}")
    assert missing == []
