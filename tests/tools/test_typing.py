"""What type checkers say of another team's program: each of its mistakes, by the argument and the line."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.pyright.check_programs import PROGRAMS, ROOT, THEIRS, Said, faults, main, mistakes


@pytest.mark.slow
def test_mypy_names_each_mistake() -> None:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", THEIRS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, re.MULTILINE)
    said = [Said(ROOT / file, int(line), message) for file, line, message in found]
    assert (list(faults(said, THEIRS)), done.stderr) == ([], "")
    assert len(said) == len(mistakes(THEIRS)) == 4


RIGHT = [Said(THEIRS, line, f'No parameter named "{argument}"') for line, argument in mistakes(THEIRS).items()]


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        (RIGHT[1:], f"{THEIRS}:{RIGHT[0].line}: {mistakes(THEIRS)[RIGHT[0].line]}: no error names it"),
        ([*RIGHT, Said(PROGRAMS[0], RIGHT[0].line, RIGHT[0].message)], f"{PROGRAMS[0]}:{RIGHT[0].line}: No parameter"),
        ([*RIGHT, Said(THEIRS, RIGHT[0].line, 'No parameter named "x"')], f"{THEIRS}:{RIGHT[0].line}: No parameter"),
        ([*RIGHT, Said(THEIRS, 1, RIGHT[0].message)], f"{THEIRS}:1: No parameter named"),
    ],
    ids=["unnamed", "in-ours", "another-argument", "another-line"],
)
def test_any_other_outcome_is_a_fault(said: list[Said], fault: str) -> None:
    assert list(faults(RIGHT, THEIRS)) == []
    (line,) = faults(said, THEIRS)
    assert line.startswith(fault)


@pytest.mark.parametrize(("optional", "code"), [(True, 0), (False, 1)])
def test_a_machine_without_node_is_told_so(
    optional: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(optional=optional) == code
    said = capsys.readouterr().err
    assert said.startswith("pyright: npm ci: ")
    assert said.endswith("; mypy alone has checked\n") == optional


def test_the_programs_are_those_of_all_environments_and_of_another_team() -> None:
    assert {file.relative_to(ROOT).as_posix() for file in PROGRAMS} == {
        *(f"stacks/{name}.py" for name in ("__main__", "aws", "aws_batch", "azure", "onprem")),
        "examples/python-import/__main__.py",
    }
