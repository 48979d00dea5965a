"""Expressions of GitHub's workflows, as far as ours use them; anything else is an error.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/expressions.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(r"\s*('(?:[^']|'')*'|==|!=|&&|\|\||[!()]|[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)")


def evaluate(expression: str, contexts: Mapping[str, Any], functions: Mapping[str, Callable[[], bool]]) -> Any:
    """The value of an expression. Errors: ValueError for what is not known here."""
    tokens, place = [], 0
    while expression[place:].strip():
        found = _TOKEN.match(expression, place)
        if found is None:
            raise ValueError(f"{expression}: not understood at {expression[place:]}")
        tokens.append(found[1])
        place = found.end()
    parser = _Parser(tokens, contexts, functions)
    value = parser.either()
    if parser.tokens:
        raise ValueError(f"{expression}: not understood at {parser.tokens}")
    return value


def fill(text: str, contexts: Mapping[str, Any]) -> str:
    """A text with the values of its expressions; what is missing is empty, as GitHub has it."""
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: _text(evaluate(found[1], contexts, {})), text)


def _text(value: object) -> str:
    return "" if value is None else json.dumps(value) if isinstance(value, bool) else str(value)


class _Parser:
    def __init__(self, tokens: list[str], contexts: Mapping[str, Any], functions: Mapping[str, Callable[[], bool]]):
        self.tokens, self.contexts, self.functions = tokens, contexts, functions

    def take(self, *wanted: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else None

    def either(self) -> Any:
        value = self.both()
        while self.take("||"):
            other = self.both()
            value = value or other
        return value

    def both(self) -> Any:
        value = self.compared()
        while self.take("&&"):
            other = self.compared()
            value = value and other
        return value

    def compared(self) -> Any:
        value = self.single()
        while sign := self.take("==", "!="):
            # Nothing equals the empty text.
            equal = _text(value) == _text(self.single())
            value = equal if sign == "==" else not equal
        return value

    def single(self) -> Any:
        if self.take("!"):
            return not self.single()
        if self.take("("):
            value = self.either()
            assert self.take(")")
            return value
        token = self.tokens.pop(0)
        if token.startswith("'"):
            return token[1:-1].replace("''", "'")
        if self.take("("):
            return self.called(token)
        context, *parts = token.split(".")
        value = self.contexts[context]
        for part in parts:
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def called(self, name: str) -> Any:
        if name == "fromJSON":
            value = json.loads(self.either())
            assert self.take(")")
            return value
        assert self.take(")")
        return self.functions[name]()
