"""The properties of a resource that change, each with its path, old and new value, and secrets redacted."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from gpufleet.report.model import Property
from gpufleet.report.preview import PreviewStep
from gpufleet.report.redaction import REDACTED, UNKNOWN, Redaction, is_secret, is_unknown
from gpufleet.secret_patterns import looks_secret

PropertyPath = tuple[str | int, ...]

MAX_VALUE_LENGTH = 200
"""Characters of a value; a longer one is cut, and says so."""
_PART = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\.?([^.\[\]]+)')
_MISSING = object()


def changed_properties(step: PreviewStep) -> list[Property]:
    """What changes in a resource that was there and stays: by the provider's diff, else by comparing the inputs."""
    if step.old is None or step.new is None:
        return []
    old, new = step.old.get("inputs") or {}, step.new.get("inputs") or {}
    hidden = Redaction(str(step.new.get("type")), (step.old, step.new))
    if step.diff:
        paths = {path: str(entry.get("kind", "")) for path, entry in sorted(step.diff.items())}
    else:
        paths = {_written(path): "" for path in _differences(old, new, ())}
    found: dict[str, bool] = {}
    for path, kind in paths.items():
        # Of a set a provider may name any place in it, where the two sides agree: then the whole of it is shown.
        inner = parse_path(path)
        told = path if _at(old, inner) != _at(new, inner) or _at(old, inner) is _MISSING else _root(path)
        found[told] = found.get(told, False) or kind.endswith("replace") or _root(path) in step.replaces
    kept = [_change(path, replaces, old, new, hidden) for path, replaces in found.items()]
    named = {_root(each.path) for each in kept}
    # A property of which the provider says that it differs, and not how.
    bare = [name for name in step.reasons if name not in named]
    return [*kept, *(_change(name, name in step.replaces, old, new, hidden) for name in bare)]


def _change(
    written: str, replaces: bool, old: Mapping[str, object], new: Mapping[str, object], hidden: Redaction
) -> Property:
    path = parse_path(written)
    sides = [_at(old, path), _at(new, path)]
    secret = hidden.hides(path) or any(_secret_on_the_way(root, path) for root in (old, new))
    texts = [None if side is _MISSING else REDACTED if secret else _shown(side, hidden, path) for side in sides]
    return Property(written, texts[0], texts[1], replaces)


def parse_path(written: str) -> PropertyPath:
    """The path that the engine writes as labels["a.b"].c[0]."""
    parts: list[str | int] = []
    for match in _PART.finditer(written):
        quoted, index, name = match.groups()
        if index is not None:
            parts.append(int(index))
        else:
            parts.append(re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else name)
    return tuple(parts)


def _written(path: PropertyPath) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"[\w-]+", part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part)}]"
    return text


def _root(written: str) -> str:
    path = parse_path(written)
    return str(path[0]) if path else ""


def _inside(value: object, part: str | int) -> object:
    """What lies at one part of a path; `_MISSING` where there is nothing."""
    if isinstance(value, Mapping):
        return value.get(part, _MISSING)
    if isinstance(value, list) and isinstance(part, int) and part < len(value):
        return value[part]
    return _MISSING


def _at(value: object, path: PropertyPath) -> object:
    for part in path:
        value = _inside(value, part)
    return value


def _secret_on_the_way(value: object, path: PropertyPath) -> bool:
    """Whether a value lies inside of something marked, or is the value of a pair whose name says that it is secret."""
    for part in path:
        if is_secret(value) or _is_secret_pair(value):
            return True
        value = _inside(value, part)
    return is_secret(value)


def _is_secret_pair(value: object) -> bool:
    """{name: DB_PASSWORD, value: ...}, as environment variables are written."""
    if not isinstance(value, Mapping) or "value" not in value:
        return False
    name = value.get("name", value.get("key"))
    return isinstance(name, str) and Redaction("", ()).hides((name,))


def _shown(value: object, hidden: Redaction, path: PropertyPath) -> str:
    """A value as JSON, with everything in it hidden that must be."""
    text = json.dumps(_cleaned(value, hidden, path), ensure_ascii=False, sort_keys=True)
    if value is None or is_unknown(value):
        text = UNKNOWN if value is not None else "null"
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}... ({len(text)} characters)"


def _cleaned(value: object, hidden: Redaction, path: PropertyPath) -> object:
    if is_secret(value) or hidden.hides(path):
        return REDACTED
    if is_unknown(value):
        return UNKNOWN
    if isinstance(value, str):
        return REDACTED if looks_secret(value) else value
    if isinstance(value, Mapping):
        if _is_secret_pair(value):
            return {key: REDACTED if key == "value" else each for key, each in value.items()}
        return {key: _cleaned(each, hidden, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, hidden, (*path, number)) for number, each in enumerate(value)]
    return value


def _differences(old: object, new: object, path: PropertyPath) -> Iterator[PropertyPath]:
    """Paths of the smallest values that differ."""
    if isinstance(old, Mapping) and isinstance(new, Mapping) and not (is_secret(old) or is_secret(new)):
        for key in sorted({*old, *new}):
            if key not in old or key not in new:
                yield (*path, key)
            else:
                yield from _differences(old[key], new[key], (*path, key))
    elif isinstance(old, Sequence) and isinstance(new, Sequence) and _lists(old, new) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, (*path, number))
    elif old != new:
        yield path


def _lists(*values: object) -> bool:
    return all(isinstance(value, list) for value in values)
