"""A Python program as a container's command: the text of several modules, small enough for AWS Batch."""

import ast
import base64
import io
import json
import tokenize
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

_UNTOUCHED = dict(zip(b",./[]", b"$`<>&", strict=True))
"""Characters that base 85 does not use, and those of it that they stand for: `$` and the backtick mean something to a
shell even in double quotes, and some writers of JSON escape `<`, `>` and `&`. Source: RFC 1924."""
_LEFT_OUT = ("from __future__ ", "from gpufleet.", "from typing ")


@cache
def program_text(package: str, modules: Sequence[str]) -> str:
    """Modules of a package, in the order of their dependencies, as one text.

    Each import appears once; imports from gpufleet, comments, annotations and spaces that mean nothing are left out; a
    level is one space.
    """
    imports: dict[str, None] = {}
    lines = []
    for module in modules:
        source = files(package).joinpath(f"{module}.py").read_text(encoding="utf-8")
        for line in _without_annotations(source):
            words = line.strip()
            if line.startswith(("import ", "from ")):
                if not line.startswith(_LEFT_OUT):
                    imports[line] = None
            elif words and not words.startswith("#"):
                lines.append(" " * ((len(line) - len(words)) // 4) + words)
    plain = [line.removeprefix("import ") for line in imports if line.startswith("import ")]
    named = [line for line in imports if not line.startswith("import ")]
    text = "\n".join([*([f"import {','.join(plain)}"] if plain else []), *named, *lines])
    return "\n".join(_without_spaces(text))


def python_command(text: str, command: Sequence[str]) -> list[str]:
    """The command that runs a text, with a command's words as its arguments.

    It has only characters that JSON, Batch (``Ref::``) and a shell in double quotes leave as they are.
    """
    packed = base64.b85encode(zlib.compress(text.encode(), 9)).decode()
    written = packed.translate({meant: used for used, meant in _UNTOUCHED.items()})
    meant = json.dumps(_UNTOUCHED, separators=(",", ":")).replace('"', "")
    unpack = f"import base64,zlib;exec(zlib.decompress(base64.b85decode('{written}'.translate({meant}))))"
    return ["python3", "-I", "-c", unpack, *command]


def _without_spaces(text: str) -> list[str]:
    """Its lines without spaces between words and signs; those within an f-string stay, as old Pythons read it whole."""
    lines = text.splitlines()
    gaps = []
    depth, last = 0, (0, 0)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        depth -= tokenize.tok_name[token.type] == "FSTRING_END"
        row, start = token.start
        if not depth and 0 < last[1] < start and row == last[0]:
            before, after = lines[row - 1][last[1] - 1], lines[row - 1][start]
            if not (_is_of_word(before) and (_is_of_word(after) or after in "\"'")):
                gaps.append((row - 1, last[1], start))
        depth += tokenize.tok_name[token.type] == "FSTRING_START"
        last = token.end
    for row, start, end in reversed(gaps):
        lines[row] = lines[row][:start] + lines[row][end:]
    return lines


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _without_annotations(source: str) -> list[str]:
    """The lines of a source in ASCII, each annotation on one line."""
    lines = source.splitlines()
    for line, start, end in sorted(_annotations(source, lines), reverse=True):
        lines[line] = lines[line][:start] + lines[line][end:]
    return lines


def _annotations(source: str, lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Line, start and end of each annotation, with the colon or arrow before it."""
    for node in ast.walk(ast.parse(source)):
        found, start = None, 0
        if isinstance(node, ast.arg) and node.annotation:
            found, start = node.annotation, node.col_offset + len(node.arg)
        elif isinstance(node, ast.AnnAssign) and node.value:
            found, start = node.annotation, node.target.end_col_offset or 0
        elif isinstance(node, ast.FunctionDef) and node.returns:
            found = node.returns
            start = lines[found.lineno - 1].rindex(" ->", 0, found.col_offset)
        if found:
            yield found.lineno - 1, start, found.end_col_offset or 0
