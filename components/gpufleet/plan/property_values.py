"""Read what a program has given a resource, from the wire form of its properties.

A policy pack sees outputs too: at preview, what the provider is going to fill in looks as unknown as an input that
another resource makes. Only the input depends on something, which tells the two apart.
"""

from collections.abc import Mapping, Sequence

from gpufleet.documents.content import DocumentError
from gpufleet.documents.json import parse_json
from gpufleet.plan.resource import UNKNOWN, Resource
from gpufleet.rules.coerce import is_whole

_TEXTS = (str, bytes, bytearray)
_SIZED = frozenset({str, dict, list, tuple})
"""What JSON makes: to ask for these is several times as fast as for any Sequence or Mapping."""


def value_of(resource: Resource, name: str) -> object:
    """The value of a property, `UNKNOWN` if another resource makes it, None if the program leaves it out.

    Providers fill what was left out with empty texts and lists; these are None here.
    """
    value = resource.inputs.get(name)
    if value is UNKNOWN and not resource.depends.get(name):
        return None
    return None if _empty(value) else value


def get_path(value: object, *path: str) -> object:
    """What lies at a path inside a value: `UNKNOWN` behind anything unknown, None where there is nothing.

    Blocks that hold one object come as that object or as a list of it, depending on the provider's version.
    """
    for name in path:
        if type(value) is not dict and isinstance(value, Sequence) and not isinstance(value, _TEXTS):
            value = value[0] if len(value) == 1 else None
        if value is UNKNOWN:
            return UNKNOWN
        value = value.get(name) if type(value) is dict or isinstance(value, Mapping) else None
    return None if _empty(value) else value


def blocks(value: object) -> list[Mapping[str, object]]:
    """The objects in a list of them; a single one is a list of one. What is not an object is left out."""
    if isinstance(value, Mapping):
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, _TEXTS):
        return []
    return [each for each in value if isinstance(each, Mapping)]


def items(value: object) -> list[object]:
    """The entries of a list, unknown ones too; none for what is not a list."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, _TEXTS) else []


def as_bool(value: object) -> bool | None:
    """A switch, which some of the provider's types spell as a text; None if it is neither on nor off."""
    if isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(value) if isinstance(value, str) else None


def number(value: object) -> int | None:
    """A whole number, None for anything else."""
    return int(value) if is_whole(value) else None


def from_json(value: object) -> object:
    """The value that a property holds as JSON text, None for a text that is not JSON; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return parse_json(value, "value")
    except DocumentError:
        return None


def _empty(value: object) -> bool:
    if value is None or type(value) in _SIZED:
        return not value
    return isinstance(value, (bytes, Sequence, Mapping)) and not len(value)
