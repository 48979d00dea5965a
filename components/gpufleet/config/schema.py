"""The JSON schema of an environment's file, Pulumi.<environment>.yaml, for editors: made from what the reader reads by.

Draft 7, which YAML editors know: the server behind them supports "JSON Schema 7 and below"
(npmjs.com/package/yaml-language-server). What the file may hold beside `config` is Pulumi's own:
pulumi.com/docs/iac/concepts/projects/stack-settings-file.

The reader is stricter where a schema cannot say it: values that depend on each other, and the catalog's names.
"""

import json
from collections.abc import Mapping
from typing import Any

from gpufleet.config.stacks import KINDS, StackKind
from gpufleet.typed_dicts import Field, Shape, docstrings_of, fields_of, is_record

FILE = "environment.schema.json"
"""Beside this module in the package, and beside Pulumi.yaml in a project of `gpufleet init`."""

BY_COMMAND = frozenset({"kubeconfig"})
"""Required keys that a file is complete without: a command stores them as a secret, and a rehearsal has its own."""

Schema = dict[str, Any]

_ENCRYPTED: Schema = {
    "description": "An encrypted value, as `pulumi config set --secret` writes it.",
    "type": "object",
    "properties": {"secure": {"type": "string"}},
    "required": ["secure"],
    "additionalProperties": False,
}
_SCALARS: Mapping[type, Schema] = {
    # `pulumi config set` writes numbers and booleans as text, and the reader takes them.
    int: {"type": ["integer", "string"], "pattern": "^-?[0-9]+$"},
    float: {"type": ["number", "string"], "pattern": "^-?[0-9]+([.][0-9]+)?$"},
    bool: {"type": ["boolean", "string"], "pattern": "^([Tt]rue|[Ff]alse|TRUE|FALSE)$"},
}


def schema_text() -> str:
    """The schema as a file holds it."""
    return json.dumps(environment_schema(), indent=1) + "\n"


def environment_schema() -> Schema:
    """The schema of every environment: which keys there are depends on `gpufleet:cloud`."""
    definitions: dict[str, Schema] = {"encrypted": _ENCRYPTED, "text": _or_encrypted({"type": "string"})}
    clouds = {cloud: _config(cloud, kind, definitions) for cloud, kind in KINDS.items()}
    first = next(iter(clouds.values()))
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": "Generated from the classes that read an environment, by tools/generate.py.",
        "title": "An environment of gpufleet: Pulumi.<environment>.yaml",
        "type": "object",
        "properties": {
            "config": {
                "description": "The keys of the environment.",
                "type": "object",
                "properties": {"gpufleet:cloud": first["properties"]["gpufleet:cloud"]},
                "required": ["gpufleet:cloud"],
                "allOf": [_if_cloud(cloud) for cloud in clouds],
            },
            "secretsprovider": {"description": "What encrypts the secrets; Pulumi's own key.", "type": "string"},
            "encryptedkey": {"description": "The key of the secrets, encrypted; Pulumi's own.", "type": "string"},
            "encryptionsalt": {"description": "Salt of the passphrase of the secrets; Pulumi's own.", "type": "string"},
            "environment": {"description": "Environments of Pulumi ESC that are imported; Pulumi's own key."},
        },
        "required": ["config"],
        "additionalProperties": False,
        "definitions": {**clouds, **definitions},
    }


def _if_cloud(cloud: str) -> Schema:
    chosen = {"properties": {"gpufleet:cloud": {"const": cloud}}, "required": ["gpufleet:cloud"]}
    return {"if": chosen, "then": {"$ref": f"#/definitions/{cloud}"}}


def _config(cloud: str, kind: StackKind, definitions: dict[str, Schema]) -> Schema:
    """All keys of an environment of a kind, by their full names, and whatever the provider and the engine read."""
    record = _record(kind.config, definitions, outermost=True)
    names = {
        name: f"{kind.provider if name in kind.provider_keys else 'gpufleet'}:{name}" for name in record["properties"]
    }
    return {
        "title": f"gpufleet:cloud={cloud}",
        "type": "object",
        "properties": {names[name]: each for name, each in record["properties"].items()},
        "patternProperties": {f"^({kind.provider}|pulumi):": {}},
        "required": [names[name] for name in record["required"] if name not in BY_COMMAND],
        "additionalProperties": False,
    }


def _record(declared: type, definitions: dict[str, Schema], *, outermost: bool = False) -> Schema:
    texts = docstrings_of(declared)
    fields = fields_of(declared)
    return {
        "type": "object",
        "properties": {
            name: _property(field, texts[name], definitions, outermost=outermost) for name, field in fields.items()
        },
        "required": [name for name, field in fields.items() if field.required and field.default is None],
        "additionalProperties": False,
    }


def _property(field: Field, text: str, definitions: dict[str, Schema], *, outermost: bool) -> Schema:
    about: Schema = {"description": " ".join(text.replace("``", "`").split())}
    if field.default is not None:
        about["default"] = field.default.value
    if field.encrypted:
        return {**about, "$ref": "#/definitions/encrypted"}
    value = {**_value(field.shape, definitions), **_bounds(field)}
    if any(check.takes_mapping for check in field.checks):
        return {**about, "type": ["string", "object"]}
    if outermost and (is_record(field.shape) or field.shape.kind in (dict, list)):
        # `pulumi config set` without --path writes it as JSON in a text.
        value = _or_encrypted(value, {"type": "string", "pattern": r"^[{\[]"})
    return {**about, **value}


def _bounds(field: Field) -> Schema:
    if field.range is None:
        return {}
    least = {"exclusiveMinimum" if field.range.above else "minimum": field.range.least}
    return least if field.range.most is None else {**least, "maximum": field.range.most}


def _value(shape: Shape | None, definitions: dict[str, Schema]) -> Schema:
    if shape is None or shape.kind is None:
        return {}
    if shape.choices:
        return {"enum": [*shape.choices]}
    if is_record(shape):
        name = f"{shape.kind.__module__.removeprefix('gpufleet.')}.{shape.kind.__name__}"
        if name not in definitions:
            definitions[name] = {}  # In its place before its own fields are.
            definitions[name].update(_record(shape.kind, definitions))
        return {"$ref": f"#/definitions/{name}"}
    if shape.kind is dict:
        return {"type": "object", "additionalProperties": _value(shape.item, definitions)}
    if shape.kind is list:
        return {"type": "array", "items": _value(shape.item, definitions)}
    return {"$ref": "#/definitions/text"} if shape.kind is str else dict(_SCALARS[shape.kind])


def _or_encrypted(*others: Schema) -> Schema:
    return {"anyOf": [*others, {"$ref": "#/definitions/encrypted"}]}
