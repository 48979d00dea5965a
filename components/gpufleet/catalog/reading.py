"""From a JSON file to records, with one clear line for each broken one."""

import json
import types
import typing
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from gpufleet.catalog.records import Record
from gpufleet.errors import UserError

R = TypeVar("R", bound=Record)

SHOWN = 20
"""Most faults of a file that are listed."""


class CatalogError(UserError):
    """A catalog file that cannot be used; its text has one line for each broken record."""


EDITION = "edition.json"
"""Says of a folder when its records were last brought together: {"as_of": "2026-11-21"}."""


def read_edition(folder: Path) -> str:
    """The day of a folder's data; "" for a folder without EDITION. Raises CatalogError if that file is broken."""
    path = folder / EDITION
    try:
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise CatalogError(f"{path}: cannot be read as JSON: {error}") from error
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
        content: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogError(f"{place}: cannot be read as JSON: {error}") from error
    if not isinstance(content, list):
        raise CatalogError(f"{place}: must hold a list of records")
    fields = _fields(kind)
    key_of = attrgetter(*kind.KEY) if len(kind.KEY) > 1 else lambda record: (getattr(record, kind.KEY[0]),)
    records: dict[tuple[str, ...], R] = {}
    faults: list[str] = []
    last: tuple[str, ...] = ()
    for number, item in enumerate(content, start=1):
        record, problems = _parse(item, kind, fields)
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


def _parse(
    item: object, kind: type[R], fields: Mapping[str, tuple[frozenset[type], str]]
) -> tuple[R | None, list[tuple[str, str]]]:
    """One record, or None and what is wrong with it."""
    if not isinstance(item, dict):
        return None, [("record", "must be an object")]
    problems = []
    for name, value in item.items():
        kinds, wanted = fields.get(name, (None, ""))
        if kinds is None:
            problems.append((str(name), "is not a field of this file"))
        elif type(value) not in kinds:
            if isinstance(value, list) and tuple in kinds and all(isinstance(each, str) for each in value):
                item[name] = tuple(value)
            else:
                problems.append((name, f"must be {wanted}, not {json.dumps(value)}"))
    if len(item) != len(fields) or problems:
        problems += [(name, "is missing") for name in fields if name not in item]
        return None, sorted(problems)
    record = kind(**item)
    return record, [(name, f"{reason}, not {json.dumps(getattr(record, name))}") for name, reason in record.problems()]


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
