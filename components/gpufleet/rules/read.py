"""Read plain values out of a component's arguments.

Values of another kind read as the default: `judge_arguments` has reported those, and the other rules then judge the
rest. What is not plain (an output of another resource) reads as the default too.
"""

from collections.abc import Mapping, Sequence


def is_whole(value: object) -> bool:
    """Whether a value is a whole number; numbers from other Pulumi languages arrive as floats."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def is_texts(value: object) -> bool:
    """Whether a value is a list of strings."""
    listlike = isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray)
    return listlike and all(isinstance(item, str) for item in value)  # type: ignore[union-attr]


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
    return int(value) if is_whole(value) else default  # type: ignore[call-overload, no-any-return]


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
