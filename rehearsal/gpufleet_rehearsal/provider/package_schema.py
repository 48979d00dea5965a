"""The package schema that the engine asks a simulated provider for: as much as `pulumi import` needs to write code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpufleet_rehearsal.inputs.validate import types
from gpufleet_rehearsal.table.loader import load_table

ANY = {"$ref": "pulumi.json#/Any"}


def package_schema(cloud: str, version: str) -> dict[str, Any]:
    """Every type of the table with its properties, inner objects without their shape."""
    shapes = types(cloud)
    return {
        "name": cloud,
        "version": version or "0.0.0",
        "resources": {
            token: _resource(shapes.get(token, {}).get("properties", {}))
            for token, row in load_table(cloud).types.items()
            if not row.hidden
        },
    }


def _resource(shapes: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    properties = {name: _type(shape) for name, shape in shapes.items()}
    required = [name for name, shape in shapes.items() if shape.get("required")]
    return {"properties": properties, "inputProperties": properties, "requiredInputs": required}


def _type(shape: Mapping[str, Any]) -> dict[str, Any]:
    match shape.get("type"):
        case "string" | "boolean" | "integer" | "number" as plain:
            return {"type": plain}
        case "list":
            return {"type": "array", "items": _type(shape.get("items", {}))}
        case "map":
            return {"type": "object", "additionalProperties": _type(shape.get("items", {}))}
        case _:
            return ANY
