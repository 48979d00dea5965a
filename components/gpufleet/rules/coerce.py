"""Read plain values out of a component's arguments.

Values of another kind read as the default: `validate_arguments` has reported those, and the other rules then check the
rest. What is not plain (an output of another resource) reads as the default too.
"""

from collections.abc import Mapping, Sequence
from typing import TypeGuard

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json


def is_whole(value: object) -> TypeGuard[int | float]:
    """Whether a value is a whole number; numbers from other Pulumi languages arrive as floats."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, whole or not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_texts(value: object) -> TypeGuard[Sequence[str]]:
    """Whether a value is a list of strings."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        return False
    return all(isinstance(item, str) for item in value)


def text(args: Mapping[str, object], name: str, default: str = "") -> str:
    """The string at `name`."""
    value = args.get(name)
    return value if isinstance(value, str) else default


def texts(args: Mapping[str, object], name: str) -> tuple[str, ...]:
    """The strings at `name`."""
    value = args.get(name)
    if not isinstance(value, Sequence) or isinstance(value, str | bytes | bytearray):
        return ()
    return tuple(item for item in value if isinstance(item, str))


def whole(args: Mapping[str, object], name: str, default: int) -> int:
    """The whole number at `name`."""
    value = args.get(name)
    return int(value) if is_whole(value) else default


def flag(args: Mapping[str, object], name: str, default: bool) -> bool:
    """The boolean at `name`."""
    value = args.get(name)
    return value if isinstance(value, bool) else default


def mapping(args: Mapping[str, object], name: str) -> Mapping[str, object]:
    """The mapping at `name`, with string keys."""
    value = args.get(name)
    if not isinstance(value, Mapping):
        return {}
    return {key: item for key, item in value.items() if isinstance(key, str)}


def from_engine(value: object) -> object:
    """A configuration value as the engine passes it: objects and lists as JSON, everything else as text.

    A text that looks like JSON and is not stays a text.
    """
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return parse_json(value, "value")
    except DocumentError:
        return value
