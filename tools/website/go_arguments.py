"""Arguments as literals of the Go SDK that Pulumi writes from a schema.

What the schema calls plain has a type of Go itself, with a pointer where it may be left out; all else is an input of
Pulumi's (https://www.pulumi.com/docs/iac/guides/building-extending/packages/schema/).
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

from tools.website.code_layout import Block, Node

Schema: TypeAlias = Mapping[str, Any]
Argument: TypeAlias = "str | int | float | bool | list[Argument] | dict[str, Argument]"
Arguments: TypeAlias = Mapping[str, Argument]
_GO = {"string": "string", "integer": "int", "number": "float64", "boolean": "bool"}
_INPUTS = {"string": "String", "integer": "Int", "number": "Float64", "boolean": "Bool"}


def camel(name: str) -> str:
    """max_zones as maxZones."""
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


def property_types(of: Schema, types: Schema) -> Mapping[str, Schema] | None:
    """Name -> type, of a type that refers to an object of the schema; none of any other."""
    ref = str(of.get("$ref", ""))
    found: Mapping[str, Schema] | None = types["types"][_token(ref)]["properties"] if "#/types/" in ref else None
    return found


def go_struct(
    opening: str,
    given: Arguments,
    takes: Mapping[str, Schema],
    required: Collection[str],
    types: Schema,
    package: str,
    closing: str = "}",
) -> Block:
    """A struct with these fields. package: of the SDK."""
    entries = []
    for key, value in given.items():
        name = camel(key)
        literal = _literal(value, takes[name], types, package, optional=name not in required)
        entries.append((f"{name[0].upper()}{name[1:]}: ", literal))
    return Block(opening, entries, closing)


def _literal(value: Argument, of: Schema, types: Schema, package: str, *, optional: bool = False) -> Node:
    fields = property_types(of, types)
    if fields is not None and isinstance(value, dict):
        token = _token(str(of["$ref"]))
        opening = f"{'&' if optional and of.get('plain') else ''}{package}.{_name(token)}{{"
        return go_struct(opening, value, fields, types["types"][token].get("required", ()), types, package)
    if isinstance(value, dict):
        inner = of["additionalProperties"]
        entries = [(f"{json.dumps(key)}: ", _literal(each, inner, types, package)) for key, each in value.items()]
        return Block(f"map[string]{_type(inner, types, package)}{{", entries, "}")
    if isinstance(value, list):
        inner = of["items"]
        return Block(
            f"[]{_type(inner, types, package)}{{", [("", _literal(each, inner, types, package)) for each in value], "}"
        )
    kind = str(of["type"])
    if type(value) not in (str, int, float, bool):
        return f"conf.RequireSecret({json.dumps(value)})"
    if not of.get("plain"):
        return f"pulumi.{_INPUTS[kind]}({json.dumps(value)})"
    return f"pulumi.{_INPUTS[kind]}Ref({json.dumps(value)})" if optional else json.dumps(value)


def _type(of: Schema, types: Schema, package: str) -> str:
    """The type of an element of a list or map."""
    if property_types(of, types) is not None:
        return f"{package}.{_token(str(of['$ref'])).rpartition(':')[2]}Input"
    if "additionalProperties" in of:
        return f"map[string]{_type(of['additionalProperties'], types, package)}"
    if "items" in of:
        return f"[]{_type(of['items'], types, package)}"
    return _GO[str(of["type"])] if of.get("plain") else f"pulumi.{_INPUTS[str(of['type'])]}Input"


def _token(ref: str) -> str:
    return ref.removeprefix("#/types/")


def _name(token: str) -> str:
    return f"{token.rpartition(':')[2]}Args"
