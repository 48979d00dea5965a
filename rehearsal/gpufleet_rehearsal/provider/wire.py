"""Values between the engine's wire (protobuf Struct) and plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value

from gpufleet_rehearsal.table.paths import Json

SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
"""The key by which an object says that it is more than an object, and its value for a secret.

Source: github.com/pulumi/pulumi, sdk/go/common/resource/sig (a test compares them with the Python SDK's).
"""


def without(value: Mapping[str, Json], paths: Sequence[str]) -> dict[str, Json]:
    """The object without the properties at dotted paths."""
    kept = dict(value)
    for path in paths:
        name, _, rest = path.partition(".")
        inner = kept.get(name)
        if not rest:
            kept.pop(name, None)
        elif isinstance(inner, Mapping):
            kept[name] = without(inner, [rest])
    return kept


def read_struct(struct: Struct) -> dict[str, Json]:
    """A Struct as an object. Whole numbers become int; null properties are left out.

    A secret is read as what it holds: the engine wraps those of a provider's configuration, and only the engine needs
    to know which they were.
    """
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
        case "struct_value" if _is_secret(value.struct_value):
            return _read(value.struct_value.fields["value"])
        case "struct_value":
            return read_struct(value.struct_value)
        case "list_value":
            return [_read(item) for item in value.list_value.values]
        case _:
            return None


def _is_secret(struct: Struct) -> bool:
    signature = struct.fields.get(SIGNATURE)
    return signature is not None and signature.string_value == SECRET


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
