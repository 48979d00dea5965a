"""One public class name means one thing, in the library and in the rehearsal; see docs/vocabulary.md."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

from gpufleet.pulumi_package.components import COMPONENTS

ROOT = Path(__file__).parents[2]
SOURCES = ("components/gpufleet", "rehearsal/gpufleet_rehearsal")
# Components have one name on every cloud (`aws.Network`, `azure.Network`), and so has what belongs to each of them.
OF_A_COMPONENT = ("", "Args", "Config", "Plan", "Link")
PARALLEL = {
    entry.split(":")[1] + suffix for entries in COMPONENTS.values() for entry in entries for suffix in OF_A_COMPONENT
}


def public_classes(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]


def homes() -> dict[str, list[str]]:
    """Each public class name with the modules that define it."""
    found = defaultdict(list)
    for folder in SOURCES:
        for file in sorted((ROOT / folder).rglob("*.py")):
            for name in public_classes(file.read_text(encoding="utf-8")):
                found[name].append(str(file.relative_to(ROOT)))
    return found


def ambiguous(homes: dict[str, list[str]]) -> dict[str, list[str]]:
    """The names that two modules define; those of components may, once for each cloud."""
    return {
        name: files
        for name, files in homes.items()
        if len(files) > 1 and not (name in PARALLEL and len({Path(file).parent for file in files}) == len(files))
    }


def test_class_name_has_one_meaning() -> None:
    assert ambiguous(homes()) == {}


@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"Report": ["a/x.py", "b/y.py"]}, True),
        ({"Network": ["aws/network.py", "azure/network.py"]}, False),
        ({"NetworkArgs": ["aws/network.py", "aws/other.py"]}, True),
        ({"Report": ["a/x.py"]}, False),
    ],
)
def test_ambiguity(files: dict[str, list[str]], kept: bool) -> None:
    assert bool(ambiguous(files)) is kept


def test_only_public_classes_count() -> None:
    assert public_classes("class A:\n    class Inner: ...\nclass _B: ...\ndef f(): ...") == ["A"]
