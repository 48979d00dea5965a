"""The text of a program that is a command: shorter than its modules, and the same program."""

import ast
from pathlib import Path

import pytest

from gpufleet.jobs import embedded_program
from tests.unit.jobs.test_node_python import FOLDERS

SOURCES = sorted(file for folder in FOLDERS for file in folder.glob("*.py"))


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: file.stem)
def test_left_out_spaces_mean_nothing(file: Path) -> None:
    source = file.read_text()
    shorter = "\n".join(embedded_program._without_spaces(source))
    assert len(shorter) < len(source) or not source.strip("# \n")
    assert ast.dump(ast.parse(shorter)) == ast.dump(ast.parse(source))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("a = b + 1", "a=b+1"),
        ("return x if y else 'z'", "return x if y else 'z'"),
        ("x = 1 if a in (b, c) else -1", "x=1 if a in(b,c)else-1"),
        ('f(f"{a + 1} {b}", b" x ")', 'f(f"{a + 1} {b}",b" x ")'),
        ("    if not (a or b): pass", "    if not(a or b):pass"),
    ],
)
def test_line(line: str, text: str) -> None:
    if line.startswith(" "):
        assert embedded_program._without_spaces(f"if 1:\n{line}") == ["if 1:", text]
    else:
        assert embedded_program._without_spaces(line) == [text]
