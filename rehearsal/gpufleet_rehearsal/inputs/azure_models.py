"""What Azure's own models of a call demand of the input properties that go into it (generator only).

A call is spelt `package[.version]:Operations.method`, as `storage.v2024_01_01:FileSharesOperations.create` for the
method of `azure.mgmt.storage.v2024_01_01.operations.FileSharesOperations`. Its path parameters take names
(`accountName`), and its body takes the rest: a model of msrest, flattened as the provider flattens it. Limits of path
parameters are read from the request's builder, which has them as constants; those of the body from the models'
`_validation`.
"""

import ast
import functools
import importlib
import inspect
import re
import textwrap
import typing
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import ModuleType
from typing import Any, NamedTuple

from gpufleet_rehearsal.inputs.call_table import CallRow, MatchResult, Shape, call_table
from gpufleet_rehearsal.inputs.merge import ModelMerge

CLOUD = "azure-native"
MADE_FROM = (
    "pulumi_azure_native",
    "azure-mgmt-authorization",
    "azure-mgmt-batch",
    "azure-mgmt-compute",
    "azure-mgmt-consumption",
    "azure-mgmt-containerregistry",
    "azure-mgmt-containerservice",
    "azure-mgmt-msi",
    "azure-mgmt-network",
    "azure-mgmt-storage",
)
"""Packages whose versions decide what is generated."""

_LIMITS = {
    "min_length": "min",
    "max_length": "max",
    "min_items": "min",
    "max_items": "max",
    "minimum": "min",
    "maximum": "max",
    "pattern": "pattern",
    "required": "required",
}
_SAYS_NOTHING = {"readonly", "constant", "unique", "multiple"}
_PLAIN = {"str": "string", "int": "integer", "long": "integer", "float": "number", "bool": "boolean"}
_FORMS = {"iso-8601": "timestamp", "duration": "duration", "bytearray": "base64"}

Facts = dict[str, Any]


class Member(NamedTuple):
    """Where a property goes: an attribute of a model, or a path parameter (then without a type)."""

    key: str
    """as `corrections` and `words` name it: `batch.Pool.vm_size`, `batch.pool_name`"""
    type: str
    """of msrest: str, int, [Model], {str}, iso-8601 ..."""
    facts: Facts


class AzureCall(NamedTuple):
    """A method, or a model inside of its body."""

    package: str
    title: str
    """as users read it: `azure-mgmt-batch PoolOperations.create`"""
    models: ModuleType
    """the module that the names of models are looked up in"""
    members: Mapping[str, Member]
    """by the property's name in lower-case letters"""


@functools.cache
def find_call(spelt: str) -> AzureCall:
    """The call that a row names; KeyError if the package has none."""
    package, _, path = spelt.partition(":")
    name, _, method_name = path.partition(".")
    short = package.partition(".")[0]
    try:
        operations = importlib.import_module(f"azure.mgmt.{package}.operations")
        group = getattr(operations, name)
        method = getattr(group, method_name)
    except (ImportError, AttributeError) as error:
        raise KeyError(f"{spelt}: azure-mgmt-{short} has no such operation") from error
    models = importlib.import_module(f"azure.mgmt.{package}.models")
    members = {member.key.rpartition(".")[2].replace("_", "").lower(): member for member in _path(short, group, method)}
    body = _body(method)
    if body is not None:
        members |= {wire: member for wire, member in _attributes(short, body).items() if wire not in members}
    return AzureCall(short, f"azure-mgmt-{short} {name}.{method_name}", models, members)


def _body(method: Callable[..., object]) -> type | None:
    """The model that a method takes as its body; None if it takes none."""
    for parameter in inspect.signature(method).parameters.values():
        for kind in (parameter.annotation, *typing.get_args(parameter.annotation)):
            if hasattr(kind, "_attribute_map"):
                return typing.cast("type", kind)
    return None


def _path(package: str, group: type, method: Callable[..., object]) -> Iterator[Member]:
    """The path parameters of a method, with the limits in its request's builder."""
    source = inspect.getsource(method)
    if "build_" not in source:
        source = inspect.getsource(getattr(group, f"_{method.__name__.removeprefix('begin_')}_initial"))
    found = re.search(r"build_\w+_request", source)
    if found is None:
        raise KeyError(f"azure-mgmt-{package}: {method.__qualname__}: its request has no builder")
    builder = getattr(importlib.import_module(group.__module__), found[0])
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(builder)))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "url":
            name = ast.literal_eval(node.args[0])
            limits = {each.arg: each.value.value for each in node.keywords if isinstance(each.value, ast.Constant)}
            yield Member(f"{package}.{name}", "str", {_LIMITS[k]: v for k, v in limits.items() if k in _LIMITS})


def _attributes(package: str, model: type) -> dict[str, Member]:
    """The attributes of a model by their flattened wire name; one that is only read back has no limits."""
    found: dict[str, Member] = {}
    entries, limited = getattr(model, "_attribute_map"), getattr(model, "_validation")  # noqa: B009 - of msrest, untyped
    for name, entry in entries.items():
        wire = entry["key"].replace("\\.", "\0").rpartition(".")[2].replace("\0", ".")
        limits = limited.get(name, {})
        if strange := limits.keys() - _LIMITS.keys() - _SAYS_NOTHING:
            raise KeyError(f"azure-mgmt-{package}: {model.__name__}.{name}: unknown limits {', '.join(strange)}")
        facts = {} if limits.get("readonly") else {_LIMITS[k]: v for k, v in limits.items() if k in _LIMITS}
        found[wire.replace("-", "").lower()] = Member(f"{package}.{model.__name__}.{name}", entry["type"], facts)
    return found


def merge(row: CallRow, properties: Mapping[str, Shape]) -> MatchResult:
    """Add pattern, min, max, form, required and call to the shapes of a type's properties, in place."""
    return _AzureMerge(row).merge_structure(properties, [find_call(spelt) for spelt in row.calls])


class _AzureMerge(ModelMerge[AzureCall, Member]):
    cloud = CLOUD

    def find_member(self, call: AzureCall, name: str) -> Member | None:
        return call.members.get(name.replace("-", "").lower())

    def merge_value(self, shape: Shape, call: AzureCall, member: Member, path: str) -> None:
        """Join one property with one member."""
        kind, model = shape["type"], member.type
        if kind == "list" and model.startswith("["):
            _constrain(shape, call, member)
            self.merge_value(shape["items"], call, Member(f"{member.key}[]", model[1:-1], {}), path)
        elif kind == "map" and model.startswith("{"):
            _constrain(shape, call, member)
            self.merge_value(shape["items"], call, Member(f"{member.key}{{}}", model[1:-1], {}), path)
        elif kind == "list" and model.startswith("{"):
            # A set of ids, which Azure takes as the keys of an object.
            _constrain(shape, call, member)
        elif kind == "object" and isinstance(inner := getattr(call.models, model, None), type):
            _constrain(shape, call, member)
            self.merge_structure(shape["properties"], [call._replace(members=_attributes(call.package, inner))], path)
        elif kind in ("any", "recursive") or (kind in _PLAIN.values() and self.is_plain(shape, call, model)):
            _constrain(shape, call, member)
        else:
            self.result.loose.append(f"{path}: {kind} against {model} {member.key}")

    def is_plain(self, shape: Shape, call: AzureCall, model: str) -> bool:
        """Whether a plain property fits a type of msrest; an enum of the model gives the values that the SDK lacks."""
        listed = getattr(call.models, model, None)
        if isinstance(listed, type) and issubclass(listed, Enum):
            if "enum" not in shape:
                shape |= {"enum": [each.value for each in listed], "enum_name": model}
            return bool(shape["type"] == "string")
        if model in _FORMS:
            shape["form"] = _FORMS[model]
            shape["call"] = call.title
            return bool(shape["type"] == "string")
        return bool(_PLAIN.get(model) == shape["type"] or (model in ("int", "long") and shape["type"] == "number"))


def _constrain(shape: Shape, one: AzureCall, member: Member) -> None:
    """Copy what the model says of one value, as corrected."""
    facts = dict(member.facts)
    facts |= {fact: value for fact, value in call_table(CLOUD).corrections.get(member.key, {}).items() if fact != "why"}
    if facts.get("pattern"):
        # The service looks for the pattern; here the whole value must match.
        facts["pattern"] = python_pattern(facts["pattern"])
        facts["says"] = call_table(CLOUD).words.get(member.key)
    facts = {fact: value for fact, value in facts.items() if value is not None and value is not False}
    shape |= facts
    if facts or "enum" in shape:
        shape["call"] = one.title


def python_pattern(pattern: str) -> str:
    """A pattern that is searched for, as one that the whole text matches."""
    before = "" if pattern.startswith("^") else ".*"
    after = "" if pattern.endswith("$") else ".*"
    whole = f"{before}{pattern.removeprefix('^').removesuffix('$')}{after}"
    try:
        re.compile(whole, re.ASCII)
    except re.error as error:
        raise ValueError(f"no Python pattern: {pattern}: {error}") from error
    return whole
