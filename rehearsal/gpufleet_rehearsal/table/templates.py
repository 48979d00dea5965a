"""Templates: how the cloud's table says what an id, an output or an error text looks like.

A template is text with paths in braces: "arn:aws:eks:{$region}:{$account}:cluster/{name}". A template that is one
path only keeps the value's own kind (number, list, object). `{hex:17}`, `{digits:12}` and `{letters:21}` make an
identifier that is the same whenever it is asked for the same resource. `{{` and `}}` are braces.

Two objects in a structure of templates mean more than they are:

    {$each: "ids[*]", $as: {name: "{$it -> name}"}}   an object with a key for each value there, bound to $it in `$as`
    {$base64: {kind: Config, server: "{fqdn}"}}       the JSON text of what is in it, base64 encoded
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache

from gpufleet_rehearsal.table.paths import STAR, Json, PropertyPath, Scope, parse_path, plain

_GENERATOR = re.compile(r"(?P<kind>hex|digits|letters):(?P<length>\d+)")
_ALPHABETS = {"hex": "0123456789abcdef", "digits": "0123456789", "letters": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}
_BRACES = re.compile(r"\{\{|\}\}|\{(?P<inner>[^{}]*)\}")


@cache
def parse_template(text: str) -> tuple[str | PropertyPath | tuple[str, int], ...]:
    """Read a template into literal text, paths and (generator, length). PathError says what is wrong with it."""
    parts: list[str | PropertyPath | tuple[str, int]] = []
    at = 0
    for match in _BRACES.finditer(text):
        parts.append(text[at : match.start()])
        at = match.end()
        inner = match["inner"]
        if inner is None:
            parts.append(match[0][0])
        elif made := _GENERATOR.fullmatch(inner):
            parts.append((made["kind"], int(made["length"])))
        else:
            parts.append(parse_path(inner))
    parts.append(text[at:])
    return tuple(part for part in parts if part != "")


def fill(template: Json, scope: Scope, salt: str = "") -> Json:
    """Fill in a template, or a structure of templates. None where a path in it leads nowhere.

    `salt` tells generated identifiers of one resource apart (say, the name of the output they are for).
    """
    if isinstance(template, Mapping) and "$each" in template:
        each = [plain(value) for value in parse_path(str(template["$each"])).values(scope)]
        return {key: fill(template["$as"], scope.with_item(key), f"{salt}.{key}") for key in each}
    if isinstance(template, Mapping) and "$base64" in template:
        return base64.b64encode(json.dumps(fill(template["$base64"], scope, salt)).encode()).decode()
    if isinstance(template, Mapping):
        filled = {key: fill(value, scope, f"{salt}.{key}") for key, value in template.items()}
        return {key: value for key, value in filled.items() if value is not None}
    if isinstance(template, Sequence) and not isinstance(template, str):
        items = [fill(value, scope, f"{salt}[{n}]") for n, value in enumerate(template)]
        return [value for value in items if value is not None]
    if not isinstance(template, str):
        return template
    parts = parse_template(template)
    if len(parts) == 1 and isinstance(parts[0], PropertyPath):
        values = parts[0].values(scope)
        many = any(STAR in hop.steps for hop in parts[0].hops)
        return values if many else (values[0] if values else None)
    pieces: list[str] = []
    for n, part in enumerate(parts):
        if isinstance(part, str):
            pieces.append(part)
        elif isinstance(part, PropertyPath):
            values = part.values(scope)
            if not values:
                return None
            pieces.append(", ".join(plain(value) for value in values))
        else:
            pieces.append(generated(part[0], part[1], scope.cloud.seed, scope.here.id, f"{salt}#{n}"))
    return "".join(pieces)


def has_generator(template: Json) -> bool:
    """Whether a template makes up an identifier, such as `{hex:8}`."""
    if isinstance(template, Mapping):
        return any(map(has_generator, template.values()))
    if isinstance(template, Sequence) and not isinstance(template, str):
        return any(map(has_generator, template))
    return isinstance(template, str) and any(isinstance(part, tuple) for part in parse_template(template))


def generated(kind: str, length: int, *of: object) -> str:
    """`length` characters of the kind `hex`, `digits` or `letters`: always the same ones for the same `of`."""
    alphabet = _ALPHABETS[kind]
    number = int.from_bytes(hashlib.blake2b("\0".join(map(str, of)).encode(), digest_size=64).digest())
    made: list[str] = []
    for _ in range(length):
        number, digit = divmod(number, len(alphabet))
        made.append(alphabet[digit])
    return "".join(made)


def generated_uuid(*of: object) -> str:
    """A UUID: always the same one for the same `of`."""
    digits = generated("hex", 32, *of)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
