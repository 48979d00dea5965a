"""Detect the environments that a change affects, by the changed files."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

POLICIES = "policies/config"
"""Where configurations of policy packs are, a folder for each environment."""
_NONE = ("docs/", "tests/", "bench/", "examples/", ".github/", "ci/")
_TEXTS = (".md", ".rst", ".txt", ".svg", ".png")


@dataclass(frozen=True)
class AffectedStacks:
    """environments: those to preview, sorted. why: environment -> the first file that says so. gone: environments
    whose configuration was deleted: no preview shows what happens to their stacks."""

    environments: Sequence[str]
    why: dict[str, str]
    gone: Sequence[str]


def affected_stacks(files: Iterable[str], configurations: str, environments: Sequence[str]) -> AffectedStacks:
    """files: those that differ, relative to the project. configurations: the folder of Pulumi.<env>.yaml, relative too.

    A file of one environment affects that one; documents, tests, examples and CI affect none. Everything else may
    affect all.
    """
    place = "" if configurations in ("", ".") else f"{PurePath(configurations).as_posix()}/"
    own = re.compile(rf"{re.escape(place)}(?:Pulumi|rehearsal)\.(?P<a>[^/]+)\.yaml|{POLICIES}/(?P<b>[^/]+)/.+")
    why: dict[str, str] = {}
    gone = set()
    for file in sorted(files):
        if found := own.fullmatch(file):
            name = found["a"] or found["b"]
            if name in environments:
                why.setdefault(name, file)
            elif PurePath(file).name == f"Pulumi.{name}.yaml":
                gone.add(name)
        elif not file.startswith(_NONE) and not file.endswith(_TEXTS):
            for name in environments:
                why.setdefault(name, file)
    return AffectedStacks(sorted(why), why, sorted(gone))
