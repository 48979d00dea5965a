"""What botocore's model of a call demands of the input properties that go into it (generator only)."""

import functools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import botocore.session
from botocore.model import ServiceModel
from botocore.model import Shape as Member

from gpufleet_rehearsal.inputs.call_table import CallRow, MatchResult, Shape, call_table
from gpufleet_rehearsal.inputs.merge import ModelMerge

CLOUD = "aws"
MADE_FROM = ("pulumi_aws", "botocore")
"""Packages whose versions decide what is generated."""

# Kinds of member -> the form of a string that the SDK has in its place.
NUMBERS = {"integer": "integer", "long": "integer", "double": "number", "float": "number"}
_FACTS = ("enum", "pattern", "min", "max")


@functools.cache
def _service(name: str) -> ServiceModel:
    return botocore.session.get_session().get_service_model(name)


class AwsCall(NamedTuple):
    """A structure of a call's input: where properties find their members."""

    service: str
    title: str
    """as users read it: `EKS CreateNodegroup`"""
    structure: Member


def find_call(spelt: str) -> AwsCall:
    """The call that `service:Operation.Member...` names; KeyError if botocore's model has none."""
    service, _, path = spelt.partition(":")
    operation, *members = path.split(".")
    if operation not in _service(service).operation_names:
        raise KeyError(f"{spelt}: botocore's {service} has no operation {operation}")
    shape = _service(service).operation_model(operation).input_shape
    for member in members:
        shape = _inside(shape.members[member])
    words = {"autoscaling": "Auto Scaling", "logs": "CloudWatch Logs"}
    return AwsCall(service, f"{words.get(service, service.upper())} {operation}", shape)


def merge(row: CallRow, properties: Mapping[str, Shape]) -> MatchResult:
    """Add enum, pattern, min, max, form and call to the shapes of a type's properties, in place."""
    return _AwsMerge(row).merge_structure(properties, [find_call(spelt) for spelt in row.calls])


class _AwsMerge(ModelMerge[AwsCall, Member]):
    cloud = CLOUD

    def find_member(self, call: AwsCall, name: str) -> Member | None:
        return _member(call.structure, name)

    def merge_value(self, shape: Shape, call: AwsCall, member: Member, path: str) -> None:
        """Join one property with one member. The SDK makes an object of a list of at most one, and the reverse."""
        kind = shape["type"]
        if kind == "list" and member.type_name == "list":
            _constrain(shape, call, member)
            self.merge_value(shape["items"], call, member.member, path)
        elif kind == "list":
            self.merge_value(shape["items"], call, member, path)
        elif kind == "map" and member.type_name == "map":
            self.merge_value(shape["items"], call, member.value, path)
        elif kind == "object" and _inside(member).type_name == "structure":
            self.merge_structure(shape["properties"], [call._replace(structure=_inside(member))], path)
        elif path in self.row.documents and kind == "string" and member.type_name == "structure":
            shape["json"] = document(member)
            shape["call"] = call.title
        elif kind in ("string", "integer", "number", "boolean", "document") and not hasattr(_inside(member), "members"):
            _constrain(shape, call, _inside(member))
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


def _constrain(shape: Shape, one: AwsCall, member: Member) -> None:
    """Copy what the model says of one list or plain value. A string of the SDK that AWS takes as a number or a
    boolean gets that as its form."""
    key = f"{one.service}.{member.name}"
    facts: dict[str, Any] = {fact: member.metadata[fact] for fact in _FACTS if fact in member.metadata}
    facts |= {fact: value for fact, value in call_table(CLOUD).corrections.get(key, {}).items() if fact in _FACTS}
    if key in call_table(CLOUD).open_enums:
        facts.pop("enum", None)
    if facts.get("pattern"):
        facts["pattern"] = python_pattern(facts["pattern"])
        facts["says"] = call_table(CLOUD).words.get(key)
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
