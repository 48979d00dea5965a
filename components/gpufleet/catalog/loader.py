"""From a JSON file to records, with one clear line for each broken one."""

import json
import types
import typing
from operator import attrgetter
from pathlib import Path
from typing import Generic, TypeVar

from gpufleet.catalog.records import Record
from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import read_json
from gpufleet.errors import UserError

R = TypeVar("R", bound=Record)

SHOWN = 20
"""Most faults of a file that are listed."""


class CatalogError(UserError):
    """A catalog file that cannot be used; its text has one line for each broken record."""


EDITION = "edition.json"
"""Says of a folder when its records were last brought together: {"as_of": "2026-11-21"}."""


def read_edition(path: Path) -> str:
    """The day of a folder's data; "" if there is no such file. Raises CatalogError if it is broken."""
    try:
        content: object = read_json(path) if path.exists() else {"as_of": ""}
    except DocumentError as error:
        raise CatalogError(f"{path}: {error.reason}") from error
    day = content.get("as_of") if isinstance(content, dict) else None
    if not isinstance(day, str):
        raise CatalogError(f'{path}: must be like {{"as_of": "2026-10-31"}}')
    return day


def read_records(path: Path, kind: type[R]) -> dict[tuple[str, ...], R]:
    """All records of a file, by key. The file holds a JSON list of objects, sorted by key.

    Raises CatalogError if the file is missing, is not JSON, or holds a record with a missing or unknown field, a value
    of the wrong kind or out of range, or a key that is out of order or there twice.
    """
    place = f"{path.parent.name}/{path.name}"
    try:
        content: object = read_json(path)
    except DocumentError as error:
        raise CatalogError(f"{place}: {error.reason}") from error
    if not isinstance(content, list):
        raise CatalogError(f"{place}: must hold a list of records")
    parser = _Parser(kind)
    key_of = attrgetter(*kind.KEY) if len(kind.KEY) > 1 else lambda record: (getattr(record, kind.KEY[0]),)
    records: dict[tuple[str, ...], R] = {}
    faults: list[str] = []
    last: tuple[str, ...] = ()
    for number, item in enumerate(content, start=1):
        record, problems = parser.record(item)
        key: tuple[str, ...] = key_of(record) if record else ()
        if record and key <= last:
            reason = "is there twice" if key in records else f"must come before {', '.join(last)}: the file is sorted"
            problems.append(("/".join(kind.KEY), reason))
        if problems:
            name = f"{place}: record {number}" + (f" ({', '.join(key)})" if key else "")
            faults += [f"{name}: {field}: {reason}" for field, reason in problems]
        if record:
            records[key] = record
            last = key
    if len(faults) > SHOWN:
        faults[SHOWN:] = [f"{place}: and {len(faults) - SHOWN} more"]
    if faults:
        raise CatalogError("\n".join(faults))
    return records


class _Parser(Generic[R]):
    """Records of one kind. Most items of a file have the same fields with values of the same kinds: these it knows."""

    def __init__(self, kind: type[R]) -> None:
        self._kind = kind
        self._fields = _fields(kind)
        self._good: dict[tuple[object, ...], list[str]] = {}
        """Names and kinds that have been looked at and are right, with the names of the lists among them."""

    def record(self, item: object) -> tuple[R | None, list[tuple[str, str]]]:
        """One record, or None and what is wrong with it."""
        if not isinstance(item, dict):
            return None, [("record", "must be an object")]
        names_and_kinds = (*item, *map(type, item.values()))
        lists = self._good.get(names_and_kinds)
        if lists is None:
            if problems := self._problems(item):
                return None, problems
            lists = self._good[names_and_kinds] = [name for name, value in item.items() if isinstance(value, list)]
        for name in lists:
            if not all(isinstance(each, str) for each in item[name]):
                return None, [(name, self._wrong(name, item[name]))]
            item[name] = tuple(item[name])
        record = self._kind(**item)
        return record, [
            (name, f"{reason}, not {json.dumps(getattr(record, name))}") for name, reason in record.problems()
        ]

    def _problems(self, item: dict[str, object]) -> list[tuple[str, str]]:
        """Fields that are missing, unknown or of another kind."""
        found = [(name, "is missing") for name in self._fields if name not in item]
        for name, value in item.items():
            if name not in self._fields:
                found.append((str(name), "is not a field of this file"))
            elif (tuple if isinstance(value, list) else type(value)) not in self._fields[name][0]:
                found.append((name, self._wrong(name, value)))
        return sorted(found)

    def _wrong(self, name: str, value: object) -> str:
        return f"must be {self._fields[name][1]}, not {json.dumps(value)}"


def _fields(kind: type[Record]) -> dict[str, tuple[frozenset[type], str]]:
    """For each field the Python types of its JSON values, and how to say that."""
    hints = {name: hint for name, hint in typing.get_type_hints(kind).items() if name.islower()}
    return {name: _kinds(hint) for name, hint in hints.items()}


def _kinds(hint: object) -> tuple[frozenset[type], str]:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    said = {str: "text", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}
    kinds = {typing.get_origin(option) or option for option in options}
    words = " or ".join(said.get(option, "a list of texts") for option in options)
    return frozenset(kinds | {int} if float in kinds else kinds), words
