"""YAML from outside: values of JSON and days, with a bound on size, depth and what aliases add up to.

Stricter than PyYAML where a file would otherwise mean something else than its author thinks, or than Pulumi's own
reader, which refuses it: a key that is there twice, a number that is none, a day that the calendar does not have.
"""

# ruff: noqa: ANN401 - a document holds any value of JSON.

import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer, ComposerError
from yaml.constructor import ConstructorError

from gpufleet.documents.content import MIB, DocumentError, decode, read_content, size_text

MAX_DEPTH = 100
"""Mappings and lists inside each other; a configuration has 6, a CustomResourceDefinition 40."""
_ALIAS_FACTOR = 4
"""How much larger than the largest file a document may be with each alias replaced by what it stands for."""
_LONGEST_NUMBER = 100
"""Characters of a number or a day: more are a mistake, and a float holds no such number."""

_KINDS = {
    f"tag:yaml.org,2002:{tag}": kind
    for tag, kind in {
        "null": "nothing",
        "bool": "true or false",
        "int": "a whole number",
        "float": "a finite number",
        "timestamp": "a day that the calendar has",
        "str": "text",
        "seq": "a list",
        "map": "a mapping",
        "merge": "a merge key",
        "value": "a value key",
    }.items()
}
"""The tags that a document may have, and what a value of each is. `!!set`, `!!binary` and others have no JSON."""
_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp")


def read_yaml(file: Path, fix: str = "", *, most: int = MIB) -> Any:
    """The value in a file of one YAML document, None for an empty one. most: bytes. Errors: DocumentError."""
    return parse_yaml(read_content(file, fix, most), str(file), fix, most=most)


def parse_yaml(content: str | bytes, where: str, fix: str = "", *, most: int = MIB) -> Any:
    """The value in a text. where: what errors begin with. fix: what they end with. Errors: DocumentError."""
    documents = [*_documents(content, where, fix, most)]
    if len(documents) > 1:
        raise DocumentError(where, "has several documents", fix or "leave only one, without a line ---")
    return documents[0] if documents else None


def parse_yaml_documents(content: str | bytes, where: str, fix: str = "", *, most: int = 64 * MIB) -> list[Any]:
    """The values of all documents in a text, without empty ones, as manifests have them. Errors: DocumentError."""
    return [each for each in _documents(content, where, fix, most) if each is not None]


def key_lines(content: str | bytes, where: str) -> dict[tuple[str, ...], int]:
    """Path of each key of a document's mappings, its own key last -> its line, from 1. Errors: DocumentError."""
    parse_yaml(content, where)
    node = _Loader(decode(content, where, ""), _ALIAS_FACTOR * MIB).get_single_node()
    found: dict[tuple[str, ...], int] = {}
    _add_key_lines(node, (), found)
    return found


def _add_key_lines(node: yaml.Node | None, path: tuple[str, ...], found: dict[tuple[str, ...], int]) -> None:
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode) and (*path, key.value) not in found:
            found[*path, key.value] = key.start_mark.line + 1
            _add_key_lines(value, (*path, key.value), found)


def _documents(content: str | bytes, where: str, fix: str, most: int) -> Iterator[Any]:
    if len(content) > most:
        raise DocumentError(where, f"has more than {size_text(most)}", fix)
    text = decode(content, where, fix)
    try:
        loader = _Loader(text, _ALIAS_FACTOR * most)
        while loader.check_data():
            yield loader.get_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        # What is not YAML at all, beside what is and has a wrong value.
        kind = "" if isinstance(error, ComposerError | ConstructorError) else "is not YAML: "
        problem = " ".join(str(error.problem).split())
        # The end of a text is a separate line to libyaml.
        line = min(mark.line, text.rstrip("\n").count("\n")) + 1 if mark else None
        raise DocumentError(where, f"{kind}{problem}", fix, line) from error
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split()).partition(" in ")[0]
        raise DocumentError(where, f"is not YAML: {reason}", fix) from error


# libyaml's parser where PyYAML has it, ten times as fast. The composer is PyYAML's own in both cases: that of libyaml
# calls itself in C, and a deep document would end the process.
_BASES: tuple[Any, ...] = (Composer, yaml.CSafeLoader) if hasattr(yaml, "CSafeLoader") else (yaml.SafeLoader,)


class _Loader(*_BASES):  # type: ignore[misc]
    """most: characters that the document may have with its aliases replaced."""

    def __init__(self, text: str, most: int) -> None:
        _BASES[-1].__init__(self, text)
        Composer.__init__(self)
        self._most = most
        self._depth = 0
        self._sizes: dict[yaml.Node, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node:
        mark, again = self.peek_event().start_mark, self.check_event(yaml.AliasEvent)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ComposerError(None, None, f"is nested more than {MAX_DEPTH} deep", mark)
        node: yaml.Node = super().compose_node(parent, index)
        self._depth -= 1
        if not again:
            self._sizes[node] = self._size(node)
        elif node not in self._sizes:
            raise ComposerError(None, None, "has an alias inside of what it stands for", mark)
        if self._sizes[node] > self._most:
            raise ComposerError(None, None, f"is more than {size_text(self._most)} with its aliases replaced", mark)
        return node

    def _size(self, node: yaml.Node) -> int:
        """Characters of a node and of all that is in it, each time that it is."""
        if isinstance(node, yaml.ScalarNode):
            return 1 + len(node.value)
        inner = node.value if isinstance(node, yaml.SequenceNode) else [*chain.from_iterable(node.value)]
        if isinstance(node, yaml.MappingNode):
            self._refuse_twins(node)
        return 1 + sum(self._sizes[each] for each in inner)

    def _refuse_twins(self, node: yaml.MappingNode) -> None:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                if (key.tag, key.value) in seen:
                    raise ComposerError(None, None, f"has the key {_shown(key.value)} twice", key.start_mark)
                seen.add((key.tag, key.value))

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        kind = _KINDS.get(node.tag)
        if kind is None:
            tag = node.tag.replace("tag:yaml.org,2002:", "!!")
            raise ConstructorError(None, None, f"has the tag {_shown(tag)}, which is not read", node.start_mark)
        try:
            if node.tag in _NUMBERS and len(node.value) > _LONGEST_NUMBER:
                raise ValueError
            value = super().construct_object(node, deep=deep)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError
            if isinstance(value, str) and "\0" in value:
                raise ValueError
        except (ValueError, OverflowError, LookupError, AttributeError, TypeError) as error:
            # PyYAML lets through what Python's own constructors raise: 2027-02-30, `!!bool x`.
            problem = (
                f"{_shown(str(node.value))} is not {kind}" if "\0" not in str(node.value) else "has a NUL character"
            )
            raise ConstructorError(None, None, problem, node.start_mark) from error
        return value


def _shown(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."
