"""Incompatible changes between two versions of a package's schema."""

from collections.abc import Iterator, Mapping
from typing import Any


def breaking_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Changes that break programs written for the schema `old`, one line each.

    A removed component, object type or property, an input that is newly required or has another type, an output that
    has another type or may be absent.
    """
    lines: list[str] = []
    for kind in ("resources", "types"):
        was, is_ = old.get(kind, {}), new.get(kind, {})
        for token, before in was.items():
            if token not in is_:
                lines.append(f"{token}: is gone")
                continue
            after = is_[token]
            for properties, required, inward in (
                ("inputProperties", "requiredInputs", True),
                ("properties", "required", kind == "types"),
            ):
                label = f"{token}.{'' if inward else 'output '}"
                lines += [f"{label}{line}" for line in _changes(before, after, properties, required, inward=inward)]
    return lines


def _changes(
    before: Mapping[str, Any], after: Mapping[str, Any], properties: str, required: str, *, inward: bool
) -> Iterator[str]:
    """Of one list of properties. inward: programs write them; else they read them."""
    was, is_ = before.get(properties, {}), after.get(properties, {})
    for name in was:
        if name not in is_:
            yield f"{name}: is gone"
        elif (one := _type(was[name])) != (other := _type(is_[name])):
            yield f"{name}: was {one}, is {other}"
    must, did = set(after.get(required, ())), set(before.get(required, ()))
    if inward:
        yield from (f"{name}: is required now" for name in sorted(must - did))
    else:
        yield from (f"{name}: may be absent now" for name in sorted((did - must) & is_.keys()))


def _type(declared: Mapping[str, Any]) -> str:
    """For instance `list of plain string`. An item is plain or not as its list is."""
    inner = declared.get("items") or declared.get("additionalProperties")
    kind = str(declared.get("$ref") or declared.get("type"))
    of = f" of {_type(inner)}" if isinstance(inner, dict) else ""
    return f"{'plain ' if declared.get('plain') else ''}{kind}{of}"
