"""Which call of AWS each input property goes into, and what botocore's model of that call demands (generator only).

A row of `aws/calls/<service>.yaml` maps one resource type. Names are matched without regard to case, structures
recursively; `rename` bridges the rest, and what no member takes is listed in `local` with the reason. So no input
property can slip: `Matched.loose` names those that are neither matched nor listed.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import botocore.session
import yaml
from botocore.model import ServiceModel
from botocore.model import Shape as Member
from pydantic import BaseModel, ConfigDict, Field

CALLS = Path(__file__).parent.parent / "aws" / "calls"

Shape = dict[str, Any]

# Kinds of member -> the form of a string that the SDK has in its place.
NUMBERS = {"integer": "integer", "long": "integer", "double": "number", "float": "number"}
_FACTS = ("enum", "pattern", "min", "max")


class Row(BaseModel):
    """One type's row. Property paths are written without list marks: `networkInterfaces.interfaceType`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: list[str]
    """`service:Operation`, or `service:Operation.Member.Member` to start inside its input; the first that fits wins."""
    rename: dict[str, str] = Field(default_factory=dict)
    """property path -> member, seen from its parent's structure (`a.b` goes on inside; lists are entered)."""
    local: dict[str, str] = Field(default_factory=dict)
    """property path -> why no member takes it; holds for what is below the path as well."""
    documents: list[str] = Field(default_factory=list)
    """property path -> a string that holds its member, a structure, as JSON text"""
    rules: list[dict[str, Any]] = Field(default_factory=list)
    """What the provider or AWS demands beyond the model: see rules.py."""


class Book(BaseModel):
    """One file of aws/calls."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    types: dict[str, Row] = Field(default_factory=dict)
    everywhere: dict[str, str] = Field(default_factory=dict)
    """property -> why no member takes it, on every type"""
    open_enums: dict[Annotated[str, Field(pattern=r"^[a-z0-9]+\.\w+$")], str] = Field(default_factory=dict)
    """service.Shape -> why values beyond the model's list are legal"""
    corrections: dict[str, dict[Literal["pattern", "min", "max", "why"], Any]] = Field(default_factory=dict)
    """service.Shape -> what the model says otherwise than the service does"""
    words: dict[str, str] = Field(default_factory=dict)
    """service.Shape -> its pattern in words"""


@dataclass
class Matched:
    """What matching one type gave."""

    loose: list[str] = field(default_factory=list[str])
    """property paths neither matched nor listed in `local`"""
    unused: set[str] = field(default_factory=set[str])
    """paths of `rename` and `local` that name no property"""


@functools.cache
def book() -> Book:
    """All of aws/calls/*.yaml as one book; a type in two files is an error."""
    whole = Book()
    for path in sorted(CALLS.glob("*.yaml")):
        part = Book.model_validate(yaml.safe_load(path.read_text()))
        for ours, theirs in ((whole.types, part.types), (whole.everywhere, part.everywhere)):
            if twice := ours.keys() & theirs.keys():
                raise ValueError(f"{path.name}: listed twice: {', '.join(sorted(twice))}")
        whole.types.update(part.types)
        whole.everywhere.update(part.everywhere)
        whole.open_enums.update(part.open_enums)
        whole.corrections.update(part.corrections)
        whole.words.update(part.words)
    return whole


@functools.cache
def _service(name: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(name)


class Call(NamedTuple):
    """A structure of a call's input: where properties find their members."""

    service: str
    title: str
    """as users read it: `EKS CreateNodegroup`"""
    structure: Member


def call(spelt: str) -> Call:
    """The call that `service:Operation.Member...` names; KeyError if botocore's model has none."""
    service, _, path = spelt.partition(":")
    operation, *members = path.split(".")
    if operation not in _service(service).operation_names:
        raise KeyError(f"{spelt}: botocore's {service} has no operation {operation}")
    shape = _service(service).operation_model(operation).input_shape
    for member in members:
        shape = _inside(shape.members[member])
    words = {"autoscaling": "Auto Scaling", "logs": "CloudWatch Logs"}
    return Call(service, f"{words.get(service, service.upper())} {operation}", shape)


def merge(row: Row, properties: Mapping[str, Shape]) -> Matched:
    """Add enum, pattern, min, max, form and call to the shapes of a type's properties, in place."""
    merging = _Merge(row, Matched(unused={*row.rename, *row.local, *row.documents}))
    merging.structure(properties, [call(spelt) for spelt in row.calls], "")
    return merging.result


@dataclass
class _Merge:
    row: Row
    result: Matched

    def structure(self, properties: Mapping[str, Shape], calls: Sequence[Call], above: str) -> None:
        for name, shape in properties.items():
            path = f"{above}.{name}" if above else name
            self.result.unused.discard(path)
            if path in self.row.local or (not above and name in book().everywhere):
                continue
            found = ((one, _member(one.structure, self.row.rename.get(path, name))) for one in calls)
            one, member = next(((one, member) for one, member in found if member is not None), (None, None))
            if one is None:
                self.result.loose.append(path)
            else:
                self.value(shape, one, member, path)

    def value(self, shape: Shape, one: Call, member: Member, path: str) -> None:
        """Join one property with one member. The SDK makes an object of a list of at most one, and the reverse."""
        kind = shape["type"]
        if kind == "list" and member.type_name == "list":
            _constrain(shape, one, member)
            self.value(shape["items"], one, member.member, path)
        elif kind == "list":
            self.value(shape["items"], one, member, path)
        elif kind == "map" and member.type_name == "map":
            self.value(shape["items"], one, member.value, path)
        elif kind == "object" and _inside(member).type_name == "structure":
            self.structure(shape["properties"], [one._replace(structure=_inside(member))], path)
        elif path in self.row.documents and kind == "string" and member.type_name == "structure":
            shape["json"] = document(member)
            shape["call"] = one.title
        elif kind in ("string", "integer", "number", "boolean", "document") and not hasattr(_inside(member), "members"):
            _constrain(shape, one, _inside(member))
        else:
            self.result.loose.append(f"{path}: {kind} against {member.type_name} {member.name}")


def document(member: Member) -> Shape:
    """The shape of what a JSON text must hold, in the words of sdk_shapes; names as in the model, exactly."""
    facts = {"enum": member.metadata["enum"]} if "enum" in member.metadata else {}
    match member.type_name:
        case "structure":
            shapes = {name: document(inner) for name, inner in member.members.items()}
            for name in member.required_members:
                shapes[name]["required"] = True
            return {"type": "object", "properties": shapes}
        case "list":
            return {"type": "list", "items": document(member.member)}
        case "map":
            return {"type": "map", "items": document(member.value)}
        case kind:
            return {"type": NUMBERS.get(kind, kind), **facts}


def _member(structure: Member, path: str) -> Member | None:
    """The shape of a member, found without regard to case; None if there is none."""
    for name in path.split("."):
        members = {key.lower(): value for key, value in getattr(_inside(structure), "members", {}).items()}
        structure = members.get(name.lower())
        if structure is None:
            return None
    return structure


def _inside(shape: Member) -> Member:
    """A list's element, through lists of lists; any other shape itself."""
    while shape.type_name == "list":
        shape = shape.member
    return shape


def _constrain(shape: Shape, one: Call, member: Member) -> None:
    """Copy what the model says of one list or plain value. A string of the SDK that AWS takes as a number or a
    boolean gets that as its form."""
    key = f"{one.service}.{member.name}"
    facts: dict[str, Any] = {fact: member.metadata[fact] for fact in _FACTS if fact in member.metadata}
    facts |= {fact: value for fact, value in book().corrections.get(key, {}).items() if fact in _FACTS}
    if key in book().open_enums:
        facts.pop("enum", None)
    if facts.get("pattern"):
        facts["pattern"] = python_pattern(facts["pattern"])
        facts["says"] = book().words.get(key)
    if shape["type"] == "string" and member.type_name in ("boolean", *NUMBERS, "timestamp"):
        facts["form"] = NUMBERS.get(member.type_name, member.type_name)
    facts = {fact: value for fact, value in facts.items() if value is not None}
    if facts:
        shape |= facts
        shape["call"] = one.title


def python_pattern(pattern: str) -> str:
    """Java's regular expression as Python's with re.ASCII: classes of Unicode, and code points above FFFF."""
    for java, python in (
        (r"\uD800\uDC00-\uDBFF\uDFFF", r"\U00010000-\U0010ffff"),
        (r"\p{L}", r"a-zA-Z\u00c0-\U0010ffff"),
        (r"\p{N}", r"0-9"),
        (r"\p{Z}", r" \u00a0\u2000-\u200a"),
    ):
        pattern = pattern.replace(java, python)
    try:
        re.compile(pattern, re.ASCII)
    except re.error as error:
        raise ValueError(f"no Python pattern: {pattern}: {error}") from error
    return pattern
