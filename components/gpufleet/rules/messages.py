"""How values, lists and suggestions read in a message."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

_LONGEST_VALUE = 160  # characters; beyond that a value is cut, so that a message stays one readable line


def format_value(value: object) -> str:
    """A value as users wrote it in their config: lists in brackets without quotes, booleans and null as in YAML."""
    text = _plain(value)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 3] + "..."


def one_line(text: str) -> str:
    """Text with line breaks and other unprintable characters escaped."""
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def _plain(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        # One line, whatever is in it.
        return value if value and value.isprintable() else repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_plain(key)}: {_plain(item)}" for key, item in value.items()) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return "[" + ", ".join(_plain(item) for item in value) + "]"
    if value is None or isinstance(value, int | float):
        return str(value)
    return f"<{type(value).__name__}>"


def join_words(words: Iterable[str], last: str = "or") -> str:
    """Words as a list in a sentence: `a, b or c`."""
    words = list(words)
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def format_zones(ids: Sequence[str] | None) -> str:
    """use1-az1,2,6 for ids that differ in their last digits only; "" for none, unknown for None."""
    if not ids:
        return "unknown" if ids is None else ""
    stem = ids[0].rstrip("0123456789")
    if len(ids) == 1 or not all(zone.startswith(stem) for zone in ids):
        return " ".join(ids)
    return stem + ",".join(zone.removeprefix(stem) for zone in ids)


def plural(number: int, word: str) -> str:
    """`1 stack`, `3 stacks`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def nearest(word: str, legal: Iterable[str], closeness: float = 0.6) -> str | None:
    """The legal word that `word` was most likely meant to be, or None when none is near; `closeness` from 0 to 1."""
    matches = difflib.get_close_matches(word.lower(), list(legal), n=1, cutoff=closeness)
    return matches[0] if matches else None


def use_one_of(word: str, legal: Sequence[str], many: int = 12) -> str:
    """The fix for an unknown word: the nearest legal one if there is one, and all of them unless there are `many`."""
    near = nearest(word, legal)
    every = f"use {join_words(legal)}" if len(legal) <= many else ""
    if near is None:
        return every or f"use one of the {len(legal)} known, for instance {legal[0]}"
    return f"did you mean {near}?" + (f" ({every})" if every else "")
