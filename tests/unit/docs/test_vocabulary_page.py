"""docs/vocabulary.md: every file and name in its table exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "components" / "gpufleet"


def _codes() -> list[str]:
    rows = [line for line in (ROOT / "docs" / "vocabulary.md").read_text().splitlines() if line.startswith("| ")]
    return [code for row in rows[1:] for code in re.findall(r"`([^`]+)`", row.rsplit("|", 2)[1])]


def test_paths_exist() -> None:
    paths = [code for code in _codes() if "/" in code or code.endswith(".py")]
    assert len(paths) > 30
    rehearsed = ROOT / "rehearsal" / "gpufleet_rehearsal" / "aws"
    assert [p for p in paths if not any((folder / p).exists() for folder in (PACKAGE, ROOT, rehearsed))] == []


def test_names_are_defined() -> None:
    source = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    names = [code for code in _codes() if re.fullmatch(r"\w+", code)]
    assert len(names) > 25
    assert [n for n in names if not re.search(rf"^(class|def) {n}\b", source, re.MULTILINE)] == []
