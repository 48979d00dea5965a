"""A change of a resource, property by property, and values that are not known yet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gpufleet_rehearsal.table.paths import Json

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What stands on the wire for a value that is only known after another resource was made."""

ChangeKind = Literal["add", "delete", "update"]


@dataclass(frozen=True)
class PropertyChange:
    """One property (as the engine writes its path, `vpcConfig.subnetIds[0]`), and whether its change replaces."""

    path: str
    kind: ChangeKind
    replaces: bool


@dataclass(frozen=True)
class Diff:
    """All changes; `delete_first` says that the old resource must go before the new one is made."""

    changes: tuple[PropertyChange, ...]
    delete_first: bool = False

    @property
    def replaces(self) -> list[str]:
        """Top-level properties whose change replaces the resource."""
        return list(dict.fromkeys(top_level(change.path) for change in self.changes if change.replaces))

    @property
    def changed(self) -> list[str]:
        """Top-level properties that change."""
        return list(dict.fromkeys(top_level(change.path) for change in self.changes))


def top_level(path: str) -> str:
    """The property that a path begins with."""
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def join_path(path: str, key: str) -> str:
    """The path of a key inside of `path`, as the engine writes it: `tags["a.b"]`."""
    if re.search(r"[^\w-]", key):
        return f'{path}["{key}"]'
    return f"{path}.{key}" if path else key


def has_unknown(value: Json) -> bool:
    """Whether anything in a value is only known later."""
    if isinstance(value, str):
        return UNKNOWN in value
    if isinstance(value, Mapping):
        return any(has_unknown(inner) for inner in value.values())
    return isinstance(value, Sequence) and any(has_unknown(inner) for inner in value)
