"""The mistakes of tests/mistakes: what people really got wrong, and the nearest program that is right.

Each YAML file here that holds a list is a part of the corpus. An entry patches legal arguments (arguments.yaml) or a
legal program (programs_*.yaml) into the mistake, and `legal` patches the mistake into what would have been right.

Entry points: those of CONSTRUCTORS are arguments of our components, stack is what a stack's configuration
says of its pools and quotas, resources a program without components of ours, and account what an account holds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
BATCH = ("batch_environment", "batch_queue", "training_job", "outputs_bucket")
CONSTRUCTORS = ("pool", "network", "cluster", "files", "registry", "mpi_job", *BATCH)
ENTRY_POINTS = (*CONSTRUCTORS, "stack", "resources", "account")
WORDS = {"name", "source", "happened", "rule", "severity", "also", "region", "program", "pack", "config", "legal"}
WORDS |= {"refusal", "peers", "doubtful", *ENTRY_POINTS}


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    source: owner/repo#number or an address where somebody met it. happened: what the cloud said or did, in our words.
    rule: what must refuse it. also: other rules that may refuse it too. refusal: its line in refusals.yaml. peers:
    further threads about the same, such as false positives of other tools on the legal neighbour. doubtful: no facts
    at hand tell that the legal neighbour is legal. wrong, legal: entry point -> its input.
    """

    name: str
    source: str
    happened: str
    rule: str
    wrong: Mapping[str, Any]
    legal: Mapping[str, Any]
    also: tuple[str, ...] = ()
    region: str = "us-east-1"
    pack: str = "zones"
    config: Mapping[str, Any] = field(default_factory=dict)
    refusal: str = ""
    peers: tuple[str, ...] = ()
    doubtful: bool = False
    file: str = ""


@cache
def mistakes() -> tuple[Mistake, ...]:
    """The whole corpus, in the order of files and entries."""
    return tuple(_mistake(path.name, entry) for path, entries in _lists() for entry in entries)


@cache
def _documents(pattern: str) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted(HERE.glob(pattern)):
        found |= yaml.load(path.read_text(), yaml.CSafeLoader)
    return found


def _lists() -> Iterator[tuple[Path, list[dict[str, Any]]]]:
    for path in sorted(HERE.glob("*.yaml")):
        document = yaml.load(path.read_text(), yaml.CSafeLoader)
        if isinstance(document, list):
            yield path, document


def record(name: str) -> Mapping[str, Any]:
    """A file beside the corpus that holds a mapping: refusals.yaml, not_shown.yaml."""
    return _documents(name)


def _mistake(file: str, entry: Mapping[str, Any]) -> Mistake:
    unknown = set(entry) - WORDS
    assert not unknown, f"{file}: {entry.get('name')}: {sorted(unknown)} are no words of a mistake"
    given = [entry_point for entry_point in ENTRY_POINTS if entry_point in entry]
    assert given, f"{file}: {entry['name']} has no entry point"
    wrong = {entry_point: _start(entry_point, entry, entry[entry_point]) for entry_point in given}
    changes = entry["legal"]
    assert set(changes) == set(given), f"{file}: {entry['name']}: legal must say what is right at {given}"
    legal = {each: patched(wrong[each], _patch(each, changes[each])) for each in given}
    return Mistake(
        name=entry["name"],
        source=entry["source"],
        happened=entry["happened"],
        rule=entry["rule"],
        wrong=wrong,
        legal=legal,
        also=tuple(entry.get("also", ())),
        region=entry.get("region", "us-east-1"),
        pack=entry.get("pack", "zones"),
        config=entry.get("config", {}),
        refusal=str(entry.get("refusal", "")),
        peers=tuple(entry.get("peers", ())),
        doubtful=entry.get("doubtful", False),
        file=file,
    )


def _start(entry_point: str, entry: Mapping[str, Any], patch: Any) -> Any:
    """The legal thing that the entry starts from, with its patch. An account sees a program too, and starts from it."""
    if entry_point in CONSTRUCTORS:
        return patched(_documents("arguments.yaml")[entry_point], patch)
    if entry_point == "resources":
        return patched(program(entry["program"]), _patch(entry_point, patch))
    if entry_point == "account":
        return patched({"resources": program(entry["program"])}, _patch(entry_point, patch))
    return patch


def _patch(entry_point: str, patch: Mapping[str, Any]) -> Mapping[str, Any]:
    """A patch in full: of a resource it gives the inputs directly, unless it makes one (which has a type)."""
    if entry_point == "account" and "resources" in patch:
        return {**patch, "resources": _patch("resources", patch["resources"])}
    if entry_point != "resources":
        return patch
    return {name: each if each is None or _in_full(each) else {"inputs": each} for name, each in patch.items()}


def _in_full(each: Mapping[str, Any]) -> bool:
    return not {"inputs", "dependsOn"}.isdisjoint(each) or ":" in str(each.get("type", ""))


def program(name: str) -> Mapping[str, Any]:
    """The resources of a legal program."""
    document = _documents("programs_*.yaml")[name]
    below = program(document["extends"]) if "extends" in document else {}
    return patched(below, document["resources"])


def patched(value: Any, patch: Any) -> Any:
    """`value` with the changes of `patch`: mappings are merged, null takes a key away, all else (and {}) replaces."""
    if not isinstance(value, Mapping) or not isinstance(patch, Mapping) or not patch:
        return patch
    merged = dict(value)
    for key, change in patch.items():
        if change is None:
            merged.pop(key, None)
        else:
            merged[key] = patched(merged.get(key), change)
    return merged
