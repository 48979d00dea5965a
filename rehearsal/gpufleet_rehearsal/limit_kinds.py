"""Which types of a simulated cloud have limits of which kind: counted from the table and the schema of inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from gpufleet_rehearsal.inputs.validate import types as input_schemas
from gpufleet_rehearsal.table.address_conditions import SubnetTooSmall
from gpufleet_rehearsal.table.cloud_conditions import AtLeast, Cidr, LacksAddresses
from gpufleet_rehearsal.table.conditions import Condition, Count, Number
from gpufleet_rehearsal.table.loader import CloudTable
from gpufleet_rehearsal.table.model import TypeRow

_JOINING = ("exactly_one_of", "at_most_one_of", "at_least_one_of", "needs", "requires", "lacks", "ordered")
"""Demands of a rule of inputs on several properties together: `inputs/rules.py`."""
_ADDRESS = re.compile(r"cidr|ipaddress|addressprefix|addressspace|hostname$", re.IGNORECASE)
_VERSION = re.compile(r"version$", re.IGNORECASE)
_ZONE = re.compile(r"zones?$|zone(id|name)$", re.IGNORECASE)


@dataclass(frozen=True)
class LimitedType:
    """A type, with what the table and the schema of its inputs say about it."""

    row: TypeRow
    table: CloudTable
    schema: Mapping[str, Any]
    conditions: Sequence[Condition] = field(default_factory=list)
    """Of all its refusals, the inner ones too."""

    def properties(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Each property of its inputs, and inside of them, with its shape."""
        yield from _properties(self.schema["properties"])

    def names(self, pattern: re.Pattern[str]) -> bool:
        """Whether some property is called so."""
        return any(pattern.search(name) for name, _ in self.properties())

    def rules(self) -> Sequence[Mapping[str, Any]]:
        rules: Sequence[Mapping[str, Any]] = self.schema.get("rules", ())
        return rules

    def speaks_of(self, pattern: re.Pattern[str]) -> bool:
        """Whether a refusal or a rule of inputs is about a property that is called so."""
        words = re.compile(r"[A-Za-z]\w*")
        texts = [str(each) for each in self.rules()] + [str(each.model_dump()) for each in self.conditions]
        return any(pattern.search(word) for text in texts for word in words.findall(text))

    def refers_to(self) -> Iterator[tuple[TypeRow, bool]]:
        """Rows that its references lead to, and whether these may be in any region."""
        for reference in self.row.references.values():
            yield from ((self.table.types[token], reference.any_region) for token in reference.to)


@dataclass(frozen=True)
class LimitKind:
    """A kind of limit. applies: whether a type can have it at all. has: whether the table limits it."""

    name: str
    meaning: str
    applies: Callable[[LimitedType], bool]
    has: Callable[[LimitedType], bool]


def _has_name_limit(of: LimitedType) -> bool:
    auto = of.row.autoname
    if auto is None:
        return False
    shape = of.schema["properties"].get(auto.property, {})
    ruled = any(auto.property in rule.get(word, ()) for rule in of.rules() for word in ("size", "pattern", "form"))
    return auto.max is not None or ruled or bool({"max", "pattern", "form"} & shape.keys())


def _has_size_limit(of: LimitedType) -> bool:
    bounded = any({"min", "max"} & shape.keys() for _, shape in of.properties() if _is_sized(shape))
    ruled = any(word in rule for rule in of.rules() for word in ("range", "size", "ordered"))
    return bounded or ruled or any(isinstance(each, Number | Count) for each in of.conditions)


def _depends(of: LimitedType) -> bool:
    """Whether a value is legal or not by another property of the same resource."""
    return any("where" in rule or any(word in rule for word in _JOINING) for rule in of.rules())


def _is_sized(shape: Mapping[str, Any]) -> bool:
    return shape["type"] in ("integer", "number", "list")


def _is_regional(of: LimitedType) -> bool:
    return of.table.row.region_output and any(row.scope == "regional" for row, _ in of.refers_to())


KINDS = (
    LimitKind(
        "names",
        "the length or the characters of a name that the provider makes",
        lambda of: of.row.autoname is not None and of.row.autoname.kind != "uuid",
        _has_name_limit,
    ),
    LimitKind(
        "counts",
        "a quota: how many there may be",
        lambda of: True,
        lambda of: any(isinstance(each, AtLeast) for each in of.conditions),
    ),
    LimitKind(
        "sizes",
        "the range of a number, or the length of a list",
        lambda of: any(_is_sized(shape) for _, shape in of.properties()),
        _has_size_limit,
    ),
    LimitKind(
        "versions", "which versions there are", lambda of: of.names(_VERSION), lambda of: of.speaks_of(_VERSION)
    ),
    LimitKind("dependent values", "values that are legal only with others", lambda of: True, _depends),
    LimitKind(
        "addresses",
        "a range that lies in another one, overlaps none, or has a size; free addresses of a subnet",
        lambda of: of.names(_ADDRESS) or bool(of.row.addresses),
        lambda of: any(isinstance(each, Cidr | LacksAddresses | SubnetTooSmall) for each in of.conditions),
    ),
    LimitKind(
        "same region",
        "what it refers to lies in its region",
        lambda of: _is_regional(of) or (not of.table.row.region_output and of.names(re.compile("^location$"))),
        lambda of: any(row.scope == "regional" and not anywhere for row, anywhere in of.refers_to())
        if of.table.row.region_output
        else of.speaks_of(re.compile("^location$")),
    ),
    LimitKind(
        "same zone", "its zone is one of the region, or that of others", lambda of: of.names(_ZONE),
        lambda of: of.speaks_of(_ZONE),
    ),
)  # fmt: skip


def limited_types(table: CloudTable) -> dict[str, LimitedType]:
    """The types that a program can make, by token."""
    schemas = input_schemas(table.cloud)
    return {
        token: LimitedType(row, table, schemas[token], list(_conditions(table, token)))
        for token, row in sorted(table.types.items())
        if not row.hidden
    }


def limit_rows(table: CloudTable) -> Iterator[tuple[str, str, int, int, list[str]]]:
    """Of each kind: its name and meaning, how many types have it, of how many that can, and the types without it."""
    types = limited_types(table)
    for kind in KINDS:
        can = [token for token, each in types.items() if kind.applies(each)]
        lacking = [token for token in can if not kind.has(types[token])]
        yield kind.name, kind.meaning, len(can) - len(lacking), len(can), lacking


def _conditions(table: CloudTable, token: str) -> Iterator[Condition]:
    for refusal in table.refusals:
        if refusal.type == token:
            yield from _inner(refusal.when)


def _inner(part: object) -> Iterator[Condition]:
    if isinstance(part, Condition):
        yield part
    if isinstance(part, BaseModel):
        part = [getattr(part, name) for name in type(part).model_fields]
    if isinstance(part, list):
        for each in part:
            yield from _inner(each)


def _properties(shapes: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, shape in shapes.items():
        yield name, shape
        inner = shape.get("items") if shape["type"] in ("list", "map") else shape
        if isinstance(inner, Mapping) and inner.get("type") == "object":
            yield from _properties(inner["properties"])
