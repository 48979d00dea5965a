"""JSON from outside, with a bound on its size, and checked against the shape that its reader needs.

msgspec reads it: NaN, infinities, halves of UTF-16 characters and numbers of thousands of digits are errors.
"""

# ruff: noqa: ANN401 - a document holds any value of JSON.

import re
from pathlib import Path
from typing import Any, TypeVar, overload

import msgspec

from gpufleet.documents.content import MIB, DocumentError, decode, read_content, size_text

T = TypeVar("T")

LARGEST = 512 * MIB
"""A preview of ten thousand resources has 70 MB."""

_KINDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_TRUNCATED = "Input data was truncated"


@overload
def read_json(file: Path, fix: str = "", *, most: int = LARGEST) -> Any: ...
@overload
def read_json(file: Path, fix: str = "", *, shape: type[T], most: int = LARGEST) -> T: ...
def read_json(file: Path, fix: str = "", *, shape: Any = Any, most: int = LARGEST) -> Any:
    """The value in a file. shape: a TypedDict or Struct that it must be. most: bytes. Errors: DocumentError."""
    return parse_json(read_content(file, fix, most), str(file), fix, shape=shape, most=most)


@overload
def parse_json(
    content: str | bytes, where: str, fix: str = "", *, most: int = LARGEST, line: int | None = None
) -> Any: ...
@overload
def parse_json(
    content: str | bytes, where: str, fix: str = "", *, shape: type[T], most: int = LARGEST, line: int | None = None
) -> T: ...
def parse_json(
    content: str | bytes, where: str, fix: str = "", *, shape: Any = Any, most: int = LARGEST, line: int | None = None
) -> Any:
    """The value in a text. where: what errors begin with. fix: what they end with. line: the only line of the text, in
    a file of a document in each. Errors: DocumentError."""
    if len(content) > most:
        raise DocumentError(where, f"has more than {size_text(most)}", fix, line)
    text = decode(content, where, fix, line)
    try:
        return msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError as error:
        raise DocumentError(where, _mismatch(str(error)), fix, line) from error
    except msgspec.DecodeError as error:
        problem, at = _malformed(str(error), text)
        raise DocumentError(where, f"is not JSON: {problem}", fix, line or at) from error
    except RecursionError as error:
        raise DocumentError(where, "is nested too deep", fix, line) from error


def check_shape(value: Any, shape: type[T], where: str, fix: str = "") -> T:
    """A value, of JSON or YAML, that must be a TypedDict or Struct. Errors: DocumentError."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise DocumentError(where, _mismatch(str(error)), fix) from error
    except RecursionError as error:
        raise DocumentError(where, "is nested too deep", fix) from error


def _malformed(message: str, text: str) -> tuple[str, int]:
    """What is wrong and in which line, of msgspec's `JSON is malformed: expected ',' (byte 12)`."""
    at = re.search(r" \(byte (\d+)\)$", message)
    if at is None:
        return ("it ends too early" if message == _TRUNCATED else message), text.count("\n") + 1
    problem = message[: at.start()].removeprefix("JSON is malformed: ")
    return problem, text.encode()[: int(at[1])].count(b"\n") + 1


def _mismatch(message: str) -> str:
    """msgspec's ``Expected `int | null`, got `str` - at `$.steps[0].op` `` in our words."""
    what, _, path = message.partition(" - at ")
    path = path.replace("key in ", "key of ").replace("`", "").replace("$.", "").replace("$", "the document")
    if found := re.fullmatch(r"Expected `([^`]+)`(?:, got `([^`]+)`)?", what):
        wanted = " or ".join(_KINDS.get(each, each) for each in found[1].split(" | "))
        what = f"must be {wanted}" + (f", not {_KINDS.get(found[2], found[2])}" if found[2] else "")
    elif found := re.fullmatch(r"Expected `(int|float)` >= (\S+)", what):
        what = f"must be {_KINDS[found[1]]}, {found[2]} or more"
    elif found := re.fullmatch(r"Expected `str` matching regex (.*)", what):
        what = f"must be text of the form {found[1]}"
    elif found := re.fullmatch(r"Object missing required field `([^`]+)`", what):
        what = f"needs the key {found[1]}"
    else:
        what = what[:1].lower() + what[1:]
    return f"{path}: {what}" if path else what
