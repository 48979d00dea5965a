"""What changes between two sets of inputs of an object, and whether the change replaces it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, cast

import yaml

from gpufleet_rehearsal.cloud.change import Diff, PropertyChange, join_path
from gpufleet_rehearsal.kubernetes.object_identity import AUTONAMED, name_of, namespace_of, says
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType
from gpufleet_rehearsal.table.paths import Json

IDENTITY = ("metadata.name", "metadata.namespace", "apiVersion", "kind")
MUTABLE_ON_REQUEST = {"core/ConfigMap": "enableConfigMapMutable", "core/Secret": "enableSecretMutable"}
"""Kinds whose data replaces them unless the provider's configuration says otherwise, and the key that says it."""


def changes(
    kind: ResourceType, olds: Mapping[str, Json], news: Mapping[str, Json], *, mutable: Sequence[str] = ()
) -> Diff:
    """Compare two objects. mutable: those keys of MUTABLE_ON_REQUEST that the provider's configuration sets."""
    fixed = _immutable(kind, news, mutable)
    found = tuple(
        PropertyChange(path, word, any(plain == held or plain.startswith(f"{held}.") for held in fixed))
        for path, plain, word in _compare(_settled(olds), _settled(news), "", "")
    )
    replaced = any(change.replaces for change in found)
    # An object that the program itself named cannot be there twice.
    same_place = name_of(news) == name_of(olds) and namespace_of(news) == namespace_of(olds)
    return Diff(found, delete_first=replaced and same_place and bool(name_of(news)) and not says(news, AUTONAMED))


@cache
def _table() -> Mapping[str, Sequence[str]]:
    return cast("Mapping[str, Sequence[str]]", yaml.safe_load(Path(__file__).with_name("immutable.yaml").read_text()))


def _immutable(kind: ResourceType, news: Mapping[str, Json], mutable: Sequence[str]) -> Sequence[str]:
    if kind.patch:
        return IDENTITY
    row = f"{kind.group}/{kind.kind}"
    held = _table().get(row, ())
    if MUTABLE_ON_REQUEST.get(row) in mutable and news.get("immutable") is not True:
        held = [path for path in held if path == "type"]
    return (*IDENTITY, *held)


def _settled(document: Mapping[str, Json]) -> Mapping[str, Json]:
    """The object with its namespace said: none and `default` are the same place."""
    about = document.get("metadata")
    if not isinstance(about, Mapping):
        return document
    return {**document, "metadata": {**about, "namespace": about.get("namespace") or "default"}}


def _compare(
    old: Json, new: Json, path: str, plain: str
) -> Iterator[tuple[str, str, Literal["add", "delete", "update"]]]:
    """Unlike in clouds' APIs an empty object says something here (`podSelector: {}`), so only absence is absence."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in sorted({*old, *new}):
            if key.startswith("__"):
                continue
            inner = f"{plain}.{key}" if plain else key
            if key not in new:
                yield join_path(path, key), inner, "delete"
            elif key not in old:
                yield join_path(path, key), inner, "add"
            else:
                yield from _compare(old[key], new[key], join_path(path, key), inner)
    elif _is_list(old) and _is_list(new):
        before, after = cast("Sequence[Json]", old), cast("Sequence[Json]", new)
        for n in range(max(len(before), len(after))):
            if n >= len(after):
                yield f"{path}[{n}]", plain, "delete"
            elif n >= len(before):
                yield f"{path}[{n}]", plain, "add"
            else:
                yield from _compare(before[n], after[n], f"{path}[{n}]", plain)
    elif old != new or isinstance(old, bool) != isinstance(new, bool):
        yield path, plain, "update"


def _is_list(value: Json) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
