"""Rows that say more than botocore's model: forms of one value, and what several properties must be together.

A row of `rules` in aws/calls/*.yaml holds one demand of the closed list DEMANDS, optionally `at` (a place, with `[*]`
for every element: the demand's paths are seen from there) and `where` (path -> value or list of values that it must
have for the row to hold; null: absent), optionally `says` (in words what is wrong, instead of a pattern), and always
`source` and `evidence` (observed, documented, assumed).

    exactly_one_of: [a, b]      one of them, not more, not none
    at_most_one_of: [a, b]      not two of them
    at_least_one_of: [a, b]     not none of them
    needs: [a]                  all of them (with `where`, or `at`)
    requires: {a: [b]}          where a is given, all of b
    lacks: [a]                  none of them
    ordered: [a, b, c]          numbers that do not fall
    one_of: {a: [v, ...]}       a has one of these values
    range: {a: [low, high]}     a number; an end may be null
    size: {a: [low, high]}      characters of a string, elements of a list, keys of a map
    pattern: {a: regex}         the whole string matches
    unlike: {a: regex}          the whole string does not
    form: {a: word}             see FORMS

A value that is not known yet satisfies whatever it may satisfy: a row that could hold once it is known is not broken.
"""

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gpufleet_rehearsal.inputs.formats import WHOLE, as_text, format_error, is_number
from gpufleet_rehearsal.inputs.wire_values import is_unknown, plain, shown, validated_value

Row = Mapping[str, Any]
FoundValue = tuple[str, object]  # full path, value; None where nothing is there


class BrokenRule(NamedTuple):
    """One broken demand, in the parts of a line."""

    path: str
    value: str
    """as shown, or empty where none is given"""
    text: str


def broken_rules(rows: Iterable[Row], inputs: object) -> Iterator[tuple[str, str]]:
    """(path, whole line) of each demand that the inputs break."""
    for row in rows:
        demand = next(word for word in DEMANDS if word in row)
        for place, scope in _places(inputs, row.get("at", "")):
            if all(_has(scope, path, wanted) for path, wanted in row.get("where", {}).items()):
                for fault in DEMANDS[demand](row[demand], scope, place):
                    subject = f"{fault.path}={fault.value}" if fault.value else fault.path
                    text = f"{row.get('says', fault.text)}{_where(row, scope, place)} ({row['source']})"
                    yield fault.path, f"{subject}: {text}" if subject else text


def _where(row: Row, scope: object, place: str) -> str:
    """', when type is EC2_LINUX': what made the row hold."""
    paths = row.get("where", ())
    words = (f"{_join(place, path)} is {as_text(_get(scope, path)) or 'not given'}" for path in paths)
    return f" when {' and '.join(words)}" if paths else ""


def _join(place: str, path: str) -> str:
    return f"{place}.{path}" if place else path


def _places(inputs: object, path: str) -> Iterator[FoundValue]:
    """Every place that `a.b[*]` names, with its full path; none where the path is absent or unknown."""
    found: list[FoundValue] = [("", inputs)]
    for part in filter(None, path.split(".")):
        name, each = part.removesuffix("[*]"), part.endswith("[*]")
        inner = [(_join(place, name), plain(value.get(name))) for place, value in found if isinstance(value, Mapping)]
        found = [(place, value) for place, value in inner if value is not None and validated_value(value)]
        if each:
            found = [
                (f"{place}[{index}]", plain(item))
                for place, value in found
                if isinstance(value, Sequence) and not isinstance(value, str)
                for index, item in enumerate(value)
                if validated_value(item)
            ]
    yield from found


def _get(scope: object, path: str) -> object:
    """The value at a plain path; None if absent, an unknown value (see values.py) if that is known no further."""
    for name in path.split("."):
        if is_unknown(scope):
            return scope
        scope = plain(scope.get(name)) if isinstance(scope, Mapping) else None
    return scope


def _present(value: object) -> bool:
    """Set, as the provider sees it: it takes empty strings and lists for absent. Unknown values may be either."""
    return value is not None and not is_unknown(value) and value not in ("", (), [], {})


def _has(scope: object, path: str, wanted: object) -> bool:
    value = _get(scope, path)
    if is_unknown(value):
        return False
    return as_text(value) in [as_text(one) for one in (wanted if isinstance(wanted, list) else [wanted])]


def _absent(scope: object, path: str) -> bool:
    value = _get(scope, path)
    return not _present(value) and not is_unknown(value)


def _set(paths: list[str], scope: object) -> list[str]:
    return [path for path in paths if _present(_get(scope, path))]


Broken = Iterator[BrokenRule]


def _exactly_one_of(paths: list[str], scope: object, place: str) -> Broken:
    yield from _at_most_one_of(paths, scope, place)
    yield from _at_least_one_of(paths, scope, place)


def _at_most_one_of(paths: list[str], scope: object, place: str) -> Broken:
    if len(given := _set(paths, scope)) > 1:
        first, *others = (_join(place, path) for path in given)
        yield BrokenRule(first, "", f"cannot be given together with {', '.join(others)}; keep one of them")


def _at_least_one_of(paths: list[str], scope: object, place: str) -> Broken:
    if all(_absent(scope, path) for path in paths):
        yield BrokenRule(place, "", f"one of {', '.join(paths)} is required")


def _needs(paths: list[str], scope: object, place: str) -> Broken:
    for path in paths:
        if _absent(scope, path):
            yield BrokenRule(_join(place, path), "", "missing, but required")


def _requires(pairs: Mapping[str, list[str]], scope: object, place: str) -> Broken:
    for given, wanted in pairs.items():
        for path in wanted if _present(_get(scope, given)) else ():
            if _absent(scope, path):
                yield BrokenRule(_join(place, path), "", f"missing, but required with {_join(place, given)}")


def _lacks(paths: list[str], scope: object, place: str) -> Broken:
    for path in _set(paths, scope):
        yield BrokenRule(_join(place, path), shown(_get(scope, path)), "not allowed")


def _ordered(paths: list[str], scope: object, place: str) -> Broken:
    known = [(path, value) for path in paths if is_number(value := _get(scope, path))]
    for (low_path, low), (high_path, high) in itertools.pairwise(known):
        if float(as_text(low)) > float(as_text(high)):
            yield BrokenRule(_join(place, low_path), shown(low), f"more than {_join(place, high_path)}={shown(high)}")


def _each(pairs: Mapping[str, Any], scope: object, place: str) -> Iterator[tuple[str, object, Any]]:
    """(full path, known value, what is demanded of it); a path may end inside lists."""
    for path, demanded in pairs.items():
        for full, value in _places(scope, path):
            if _present(value):
                yield _join(place, full), value, demanded


def _one_of(pairs: Mapping[str, list[object]], scope: object, place: str) -> Broken:
    for path, value, legal in _each(pairs, scope, place):
        if as_text(value) not in [as_text(one) for one in legal]:
            yield BrokenRule(path, shown(value), f"not one of {', '.join(as_text(one) for one in legal)}")


def _range(pairs: Mapping[str, list[float | None]], scope: object, place: str) -> Broken:
    for path, value, ends in _each(pairs, scope, place):
        if is_number(value) and not _within(float(as_text(value)), ends):
            yield BrokenRule(path, shown(value), f"legal is {_ends(ends)}")


def _size(pairs: Mapping[str, list[float | None]], scope: object, place: str) -> Broken:
    for path, value, ends in _each(pairs, scope, place):
        whole = isinstance(value, Sequence | Mapping) and not isinstance(value, str)
        size = len(value) if isinstance(value, Sequence | Mapping) else len(as_text(value))
        if not _within(size, ends):
            yield BrokenRule(
                path, shown(value), f"{size} {'items' if whole else 'characters'}, legal are {_ends(ends)}"
            )


def _pattern(pairs: Mapping[str, str], scope: object, place: str) -> Broken:
    for path, value, pattern in _each(pairs, scope, place):
        if not re.fullmatch(pattern, as_text(value), re.ASCII):
            yield BrokenRule(path, shown(value), f"does not match {pattern}")


def _unlike(pairs: Mapping[str, str], scope: object, place: str) -> Broken:
    for path, value, pattern in _each(pairs, scope, place):
        if re.fullmatch(pattern, as_text(value), re.ASCII):
            yield BrokenRule(path, shown(value), f"may not match {pattern}")


def _form(pairs: Mapping[str, str], scope: object, place: str) -> Broken:
    for path, value, form in _each(pairs, scope, place):
        if wrong := format_error(form, value):
            yield BrokenRule(path, "" if form in WHOLE else shown(value), wrong)


def _within(number: float, ends: Sequence[float | None]) -> bool:
    low, high = ends
    return (low is None or number >= low) and (high is None or number <= high)


def _ends(ends: Sequence[float | None]) -> str:
    low, high = ends
    if low is None or high is None:
        return f"at most {high}" if low is None else f"at least {low}"
    return f"{low} to {high}"


DEMANDS: Mapping[str, Callable[[Any, object, str], Broken]] = {
    "exactly_one_of": _exactly_one_of,
    "at_most_one_of": _at_most_one_of,
    "at_least_one_of": _at_least_one_of,
    "needs": _needs,
    "requires": _requires,
    "lacks": _lacks,
    "ordered": _ordered,
    "one_of": _one_of,
    "range": _range,
    "size": _size,
    "pattern": _pattern,
    "unlike": _unlike,
    "form": _form,
}
