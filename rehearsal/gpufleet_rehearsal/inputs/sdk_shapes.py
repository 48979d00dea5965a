"""The wire names and types of resources, read from the classes of a cloud's SDK (needs that SDK: generator only).

A *shape* is a plain mapping, as it stands in `<cloud>/schema.json`:

    {"type": "string" | "integer" | "number" | "boolean" | "list" | "map" | "object" | "document" | "asset" | "any",
     "required": true,            # only where the SDK demands the property
     "enum": [value, ...],        # of a string, where the SDK's own enums are complete
     "items": shape,              # of list and map
     "properties": {name: shape}} # of object

"document" is a JSON string for which the SDK takes an object as well (IAM's assumeRolePolicy). "recursive" is an object
of a class that it lies in: nobody's program gives one, and the rehearsal rejects it.
"""

import collections.abc
import importlib
import inspect
import re
import typing
import warnings
from collections.abc import Iterator, Mapping
from enum import Enum
from types import NoneType
from typing import NamedTuple

import pulumi
from pulumi._types import input_type_types, is_input_type, is_output_type, output_type_types, resource_types

Shape = dict[str, object]

_PLAIN: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_LISTS = (list, collections.abc.Sequence)
_MAPS = (dict, collections.abc.Mapping)


class UnknownSdkType(Exception):
    """A type token without a class of that token in the SDK."""


class Sdk(NamedTuple):
    """The SDK of one cloud."""

    package: str
    token: str
    """Pattern of its type tokens: the module, and the class."""
    form: str
    """The same for people."""
    enums: bool
    """Whether its enums name every legal value. (Those of pulumi_aws are a few that somebody typed.)"""
    output_depth: int
    """How deep the kinds of outputs are followed. (Azure's networks hold one another.)"""


SDKS: Mapping[str, Sdk] = {
    "aws": Sdk("pulumi_aws", r"aws:([a-z0-9]+)/\w+:(\w+)", "aws:<module>/<name>:<Class>", enums=False, output_depth=99),
    "azure-native": Sdk(
        "pulumi_azure_native",
        r"azure-native:([a-z0-9]+):(\w+)",
        "azure-native:<module>:<Class>",
        enums=True,
        output_depth=1,
    ),
}


def sdk_of(token: str) -> Sdk:
    """The SDK of a type token's cloud. Errors: UnknownSdkType."""
    sdk = SDKS.get(token.partition(":")[0])
    if sdk is None:
        forms = " or ".join(each.form for each in SDKS.values())
        raise UnknownSdkType(f"{token}: not of the form {forms}")
    return sdk


def resource_class(token: str) -> type[pulumi.CustomResource]:
    """The SDK's class of a type token such as `aws:eks/nodeGroup:NodeGroup`."""
    sdk = sdk_of(token)
    found = re.fullmatch(sdk.token, token)
    if found is None:
        raise UnknownSdkType(f"{token}: not of the form {sdk.form}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # a module loads its deprecated classes as well
            cls = getattr(importlib.import_module(f"{sdk.package}.{found[1]}"), found[2])
    except (ImportError, AttributeError) as error:
        raise UnknownSdkType(f"{token}: {sdk.package} has no such class") from error
    if f"'{token}'" not in _source(cls):
        raise UnknownSdkType(f"{token}: the class {sdk.package}.{found[1]}.{found[2]} registers another type token")
    return typing.cast("type[pulumi.CustomResource]", cls)


def _source(cls: type) -> str:
    """The text of a resource's module, which holds nothing else (a class's own text takes seconds to cut out)."""
    return inspect.getsource(importlib.import_module(cls.__module__))


def inputs_of(token: str) -> dict[str, Shape]:
    """Every input property of a resource type: wire name -> shape."""
    cls = resource_class(token)
    # Not always `<Class>Args`: where a nested type has that name, the resource's own is `<Class>InitArgs`.
    made = re.search(r"__props__ = (\w+)\.__new__", _source(cls))
    if made is None:
        raise UnknownSdkType(f"{token}: its class makes no properties")
    with_enums = sdk_of(token).enums
    return _properties(getattr(importlib.import_module(cls.__module__), made[1]), with_enums)


def provider_keys(cloud: str) -> list[str]:
    """Wire names of the provider's own configuration."""
    return sorted(wire_name for _, wire_name in _names(importlib.import_module(SDKS[cloud].package).ProviderArgs))


def outputs_of(token: str) -> dict[str, object]:
    """Every output of a resource type: wire name -> kind, as a word, a nested mapping, or a list of one kind."""
    depth = sdk_of(token).output_depth
    return {name: _kind(hint, depth) for name, hint in sorted(resource_types(resource_class(token)).items())}


def secrets_of(token: str) -> list[str]:
    """Outputs that the SDK marks secret by itself."""
    return _option_list(token, "additional_secret_outputs")


def replace_on_changes_of(token: str) -> list[str]:
    """Properties whose change replaces the resource, where the SDK says so itself (most replacements the provider
    alone knows; those are in the rehearsal's table)."""
    return _option_list(token, "replace_on_changes")


def _option_list(token: str, option: str) -> list[str]:
    found = re.search(rf"{option}=\[([^\]]*)\]", _source(resource_class(token)))
    return sorted(re.findall(r'"([^"]+)"', found[1])) if found else []


def _properties(args_class: type, with_enums: bool, above: tuple[type, ...] = ()) -> dict[str, Shape]:
    """Shapes of one Args class; a parameter of its constructor without a default is required."""
    parameters = inspect.signature(args_class).parameters
    shapes: dict[str, Shape] = {}
    for python_name, wire_name in _names(args_class):
        shape = _shape(input_type_types(args_class)[wire_name], with_enums, (*above, args_class))
        if parameters[python_name].default is inspect.Parameter.empty:
            shape["required"] = True
        shapes[wire_name] = shape
    return dict(sorted(shapes.items()))


def _names(args_class: type) -> Iterator[tuple[str, str]]:
    """(python name, wire name) of each property: pulumi.getter leaves the wire name on the property's function."""
    for python_name, member in inspect.getmembers(args_class, lambda m: isinstance(m, property)):
        yield python_name, getattr(getattr(member, "fget", None), "_pulumi_name", python_name)


def _shape(hint: object, with_enums: bool, above: tuple[type, ...]) -> Shape:
    kinds = list(_alternatives(hint))
    listed = [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Enum)]
    if listed and with_enums:
        values = [each.value for each in listed[0]]
        return {"type": _enum_kind(listed[0]), "enum": values, "enum_name": listed[0].__name__}
    plain = {_PLAIN[kind] for kind in kinds if kind in _PLAIN} or {_enum_kind(kind) for kind in listed}
    classes = [kind for kind in kinds if isinstance(kind, type) and is_input_type(kind)]
    if classes and plain == {"string"}:
        return {"type": "document"}
    if classes and classes[0] in above:
        return {"type": "recursive"}
    if classes:
        return {"type": "object", "properties": _properties(classes[0], with_enums, above)}
    if len(plain) == 1:
        return {"type": plain.pop()}
    for kind in kinds:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in _LISTS:
            return {"type": "list", "items": _shape(arguments[0], with_enums, above)}
        if origin in _MAPS:
            return {"type": "map", "items": _shape(arguments[1], with_enums, above)}
        if isinstance(kind, type) and issubclass(kind, pulumi.Asset | pulumi.Archive):
            return {"type": "asset"}
    return {"type": "any"}


def _enum_kind(listed: type[Enum]) -> str:
    """The kind of plain value that the members of an enum have."""
    return _PLAIN.get(type(next(iter(listed)).value), "string")


def _alternatives(hint: object) -> Iterator[object]:
    """The types that a hint allows for the value itself; outputs, awaitables, None and enums' classes do not count."""
    for kind in typing.get_args(hint) if typing.get_origin(hint) is typing.Union else (hint,):
        origin = typing.get_origin(kind)
        if kind is NoneType or origin is collections.abc.Awaitable or origin is pulumi.Output:
            continue
        if origin is typing.Union:
            yield from _alternatives(kind)
        else:
            yield kind


def _kind(hint: object, depth: int) -> object:
    for kind in _alternatives(hint):
        if kind in _PLAIN:
            return _PLAIN[kind]
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin in _LISTS:
            return [_kind(arguments[0], depth)]
        if origin in _MAPS:
            return "map"
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _enum_kind(kind)
        # An asset is a class as well, and none of the SDK's.
        if isinstance(kind, type) and is_output_type(kind) and depth and output_type_types(kind):
            return {name: _kind(inner, depth - 1) for name, inner in sorted(output_type_types(kind).items())}
    return "any"
