"""Programs as others write them: the resources of public examples as data, and a change that follows the first `up`.

Each YAML file here holds programs by name. A program is

    source       owner/repository/path of the public example whose shape it has: types, properties and references
    kind         what it is about; one program of each kind of SAMPLE runs on the engine in `make e2e`
    region       of AWS; default us-east-1
    extends      another program of the same cloud, to which this one adds; a name with a leading `_` is only a base
    holds        what the account has already, as in rehearsal.<environment>.yaml
    lookups      name -> {token, arguments}: functions of the provider that the program calls
    resources    name -> {type, inputs, dependsOn: [names], deleteBeforeReplace: true}
    change       name -> a patch of the inputs, or a new resource with its type, or null: the resource goes
    replaces     which resources the change makes anew, by the provider's documentation
    leaves       types of what the cloud keeps after the end, as the real one does
    extra        resources that the change updates although it does not name them: one that refers to a new one

A text `${name.path}` is an output of a resource or of a look-up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.mistakes.corpus import patched

HERE = Path(__file__).parent
REFERENCE = re.compile(r"\$\{([\w-]+)\.([^}]+)\}")
SAMPLE = {"batch": "batch-on-spot-and-on-demand", "aks": "aks-with-registry"}
"""Kind -> the program that stands for it in `make e2e`: one of each cloud, since a program takes minutes of CI."""
_WORDS = {
    "source",
    "kind",
    "region",
    "extends",
    "holds",
    "lookups",
    "resources",
    "change",
    "replaces",
    "extra",
    "leaves",
}


@dataclass(frozen=True)
class Program:
    """A program of the corpus. See the module for what its parts mean."""

    name: str
    file: str
    source: str
    kind: str
    region: str
    resources: Mapping[str, Mapping[str, Any]]
    changed: Mapping[str, Mapping[str, Any]]
    """The resources after the change."""
    lookups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    holds: tuple[Mapping[str, Any], ...] = ()
    replaces: frozenset[str] = frozenset()
    leaves: tuple[str, ...] = ()
    updates: frozenset[str] = frozenset()
    """What the change updates in place."""

    @property
    def cloud(self) -> str:
        return "azure-native" if self.file.startswith("azure_") else "aws"

    def order(self, resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
        """Names of resources and look-ups, each after all that it needs."""
        nodes, done = {**self.lookups, **resources}, dict[str, None]()

        def visit(name: str) -> None:
            if name not in done:
                for other in needs(nodes[name]):
                    visit(other)
                done[name] = None

        for name in nodes:
            visit(name)
        return list(done)


@cache
def programs() -> tuple[Program, ...]:
    """The whole corpus, in the order of files and entries."""
    return tuple(program for path in sorted(HERE.glob("*.yaml")) for program in read_programs(path))


def read_programs(path: Path) -> Iterator[Program]:
    """The programs of a file. What they extend is in the same file or in the one of the cloud's bases."""
    own, bases = _documents(path), _documents(HERE / f"{path.name.partition('_')[0]}_bases.yaml")
    for name, document in own.items():
        assert not set(document) - _WORDS, f"{path.name}: {name}: {sorted(set(document) - _WORDS)}"
        if not name.startswith("_"):
            yield _program(name, path, _whole(name, {**bases, **own}))


@cache
def _documents(path: Path) -> Mapping[str, Any]:
    return yaml.load(path.read_text(), yaml.CSafeLoader)


def needs(node: Mapping[str, Any]) -> list[str]:
    """Names of all that a resource or a look-up refers to or waits for, each once."""
    return list(dict.fromkeys([*references(node.get("inputs", node.get("arguments", {}))), *node.get("dependsOn", ())]))


def references(value: object) -> Iterator[str]:
    """Names in the references of a value."""
    if isinstance(value, str):
        yield from (match[1] for match in REFERENCE.finditer(value))
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def _whole(name: str, documents: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document on top of the one that it extends."""
    document = documents[name]
    if "extends" not in document:
        return document
    below = _whole(document["extends"], documents)
    return patched(below, {key: value for key, value in document.items() if key != "extends"})


def _program(name: str, path: Path, document: Mapping[str, Any]) -> Program:
    change, resources = document["change"], document["resources"]
    added = {each for each, patch in change.items() if each not in resources}
    gone = {each for each, patch in change.items() if patch is None}
    whole = {each: patch if each in added or patch is None else {"inputs": patch} for each, patch in change.items()}
    replaces = frozenset(document.get("replaces", ()))
    return Program(
        name=name,
        file=path.name,
        source=document["source"],
        kind=document["kind"],
        region=document.get("region", "us-east-1"),
        resources=resources,
        changed=patched(resources, whole),
        lookups=document.get("lookups", {}),
        holds=tuple(document.get("holds", ())),
        replaces=replaces,
        leaves=tuple(document.get("leaves", ())),
        updates=frozenset({*change, *document.get("extra", ())} - added - gone) - replaces,
    )
