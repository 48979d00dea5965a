"""Values between the engine's wire (protobuf Struct) and plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value

from gpufleet_rehearsal.table.paths import Json


def read_struct(struct: Struct) -> dict[str, Json]:
    """A Struct as an object. Whole numbers become int; null properties are left out."""
    found = {key: _read(value) for key, value in struct.fields.items()}
    return {key: value for key, value in found.items() if value is not None}


def _read(value: Value) -> Json:
    match value.WhichOneof("kind"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "number_value":
            return int(value.number_value) if value.number_value.is_integer() else value.number_value
        case "struct_value":
            return read_struct(value.struct_value)
        case "list_value":
            return [_read(item) for item in value.list_value.values]
        case _:
            return None


def write_struct(values: Mapping[str, Json]) -> Struct:
    """An object as a Struct."""
    return Struct(fields={key: _write(value) for key, value in values.items()})


def _write(value: Json) -> Value:
    if value is None:
        return Value(null_value=NULL_VALUE)
    if isinstance(value, bool):
        return Value(bool_value=value)
    if isinstance(value, (int, float)):
        return Value(number_value=value)
    if isinstance(value, str):
        return Value(string_value=value)
    if isinstance(value, Mapping):
        return Value(struct_value=write_struct(value))
    assert isinstance(value, Sequence)
    return Value(list_value=ListValue(values=[_write(item) for item in value]))
