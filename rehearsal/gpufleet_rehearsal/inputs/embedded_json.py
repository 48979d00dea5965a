"""Judges JSON texts that go into a call as a structure: the container properties of a Batch job definition.

The provider decodes such a text into the call's own types: a name that they do not have is dropped without a word, and
that is rejected here on purpose; a value of another kind ("4" for 4) stops it. So there are no coercions as in the
bridge. Names are checked in the case of the API reference, although the provider would take any.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpufleet_rehearsal.inputs.wire_values import shown

Shape = Mapping[str, Any]
Fault = tuple[str, str]  # path, whole line

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "list": (list,),
    "object": (dict,),
    "map": (dict,),
}
_WORDS = {"integer": "a whole number", "object": "an object", "map": "an object"}


def faults(shape: Shape, text: str, path: str) -> Iterator[Fault]:
    """What is wrong with a JSON text whose content must have this shape (aws_calls.document)."""
    try:
        content = json.loads(text)
    except ValueError as error:
        yield path, f"{path}: not JSON: {error}"
        return
    if isinstance(content, dict):
        yield from _structure(shape["properties"], content, path)
    else:
        yield path, f"{path}={shown(content)}: must be an object"


def _value(shape: Shape, value: object, path: str) -> Iterator[Fault]:
    kind = shape["type"]
    if value is None:
        return
    if not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "boolean"):
        yield path, f"{path}={shown(value)}: must be {_WORDS.get(kind, f'a {kind}')}"
    elif kind == "object" and isinstance(value, dict):
        yield from _structure(shape["properties"], value, path)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _value(shape["items"], item, f"{path}[{index}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _value(shape["items"], item, f"{path}.{key}")
    elif "enum" in shape and value not in shape["enum"]:
        yield path, f"{path}={shown(value)}: not one of {', '.join(shape['enum'])}"


def _structure(shapes: Mapping[str, Shape], value: Mapping[str, Any], path: str) -> Iterator[Fault]:
    for name, inner in value.items():
        if name in shapes:
            yield from _value(shapes[name], inner, f"{path}.{name}")
        else:
            yield f"{path}.{name}", f"{path}.{name}: unknown name; {_nearest(name, list(shapes))}"
    for name, shape in shapes.items():
        if shape.get("required") and value.get(name) is None:
            yield f"{path}.{name}", f"{path}.{name}: missing, but required"


def _nearest(name: str, known: Sequence[str]) -> str:
    import difflib

    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.replace("_", "").lower(), lower, n=1, cutoff=0.6)
    return f"did you mean {lower[near[0]]}?" if near else f"it has {', '.join(known)}"
