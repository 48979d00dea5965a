"""Values as they come over Pulumi's wire: unknown, secret and output wrappers, and how a value is shown to users."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What stands for a value that is not known before `up` (pulumi.runtime.rpc.UNKNOWN)."""

_SIGNATURE: Final = "4dabf18193072939515e22adb298388d"
_SECRET: Final = "1b47061264138c4ac30d75fd1eb44270"

_WIDTH = 80  # characters of a value in a line


@dataclass(frozen=True, slots=True)
class Hidden:
    """A plain value inside a secret: checked, but never printed."""

    value: object


class _Missing:
    """The absence of a property, where None would be one."""


MISSING: Final = _Missing()


def plain(value: object) -> object:
    """The value itself, out of a secret's or an output's wrapper; plain values inside a secret become Hidden."""
    if not isinstance(value, Mapping) or _SIGNATURE not in value:
        return value
    inner = plain(value.get("value", UNKNOWN))
    return _hidden(inner) if value[_SIGNATURE] == _SECRET or value.get("secret") is True else inner


def _hidden(value: object) -> object:
    if isinstance(value, Mapping) and _SIGNATURE not in value:
        return {key: _hidden(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(inner) for inner in value]
    return Hidden(value) if isinstance(value, str | int | float) and value != UNKNOWN else value


def validated_value(value: object) -> bool:
    """Whether there is a value to check: it is known and of the wire's own kinds. Outputs and the SDK's Unknown
    objects, assets and archives are not."""
    value = plain(value)
    if isinstance(value, Mapping):
        return _SIGNATURE not in value
    if isinstance(value, Hidden):
        return True
    return value != UNKNOWN and isinstance(value, str | int | float | Sequence)


def is_unknown(value: object) -> bool:
    """Whether there is a value, but not one to check."""
    return value is not None and value is not MISSING and not validated_value(value)


def shown(value: object) -> str:
    """A value as a line shows it: JSON, cut to a width; a secret only as [secret]."""
    if isinstance(value, Hidden):
        return "[secret]"
    text = json.dumps(_open(value), default=lambda _: "[unknown]", ensure_ascii=False)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _open(value: object) -> object:
    value = plain(value)
    if isinstance(value, Hidden):
        return "[secret]"
    if isinstance(value, str):
        return "[unknown]" if value == UNKNOWN else value
    if isinstance(value, Mapping):
        return {str(key): _open(inner) for key, inner in value.items()}
    if isinstance(value, Sequence):
        return [_open(inner) for inner in value]
    return value
