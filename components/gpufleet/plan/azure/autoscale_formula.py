"""How many nodes an Azure Batch autoscale formula can ask for, read off the formula without running it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TARGETS = {"$TargetDedicatedNodes": "dedicated", "$TargetDedicated": "dedicated", "$TargetLowPriorityNodes": "spot"}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_ASSIGNMENT = re.compile(r"\s*(\$?[A-Za-z_]\w*)\s*=(?!=)(.*)", re.S)
_NUMBER = re.compile(r"\d+(\.\d+)?")
# Counts of tasks, nodes and cores are never negative, and nor is an average, a minimum or a maximum of them.
_COUNT = re.compile(r"(avg|min|max|sum|med)\(\s*\$\w+\.GetSample\([^()]*(\([^()]*\))?[^()]*\)\s*\)|\$\w+")
_CALL = re.compile(r"(min|max)\s*\(")
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """Least and most that a value can be; None: not to be read off."""

    least: float | None
    most: float | None


_ANYTHING = Bounds(None, None)


def formula_bounds(formula: str) -> dict[str, Bounds]:
    """Bounds of the nodes that a formula asks for: of `dedicated`, of `spot`, for each that it assigns.

    Understands numbers, min(), max(), a ? b : c, counts of tasks and variables made of these. All else is unbounded,
    so that a bound is never too tight; nodes are whole, and at least 0.
    """
    known: dict[str, Bounds] = {}
    targets: dict[str, Bounds] = {}
    for statement in _COMMENT.sub(" ", formula).split(";"):
        found = _ASSIGNMENT.fullmatch(statement)
        if not found:
            continue
        name, bounds = found[1], _bounds(found[2].strip(), known, 0)
        known[name] = bounds
        if name in _TARGETS:
            targets[_TARGETS[name]] = bounds
    return targets


def _bounds(text: str, known: Mapping[str, Bounds], depth: int) -> Bounds:
    if depth > _DEEPEST:
        return _ANYTHING
    text = text.strip()
    if _NUMBER.fullmatch(text):
        return Bounds(float(text), float(text))
    if text in known:
        return known[text]
    if _COUNT.fullmatch(text):
        return Bounds(0.0, None)
    choice = _parts(text, "?")
    if len(choice) == 2:
        either = _parts(choice[1], ":")
        if len(either) == 2:
            return _hull([_bounds(each, known, depth + 1) for each in either])
        return _ANYTHING
    call = _CALL.match(text)
    if call and _closing(text, call.end() - 1) == len(text) - 1:
        inner = [_bounds(each, known, depth + 1) for each in _parts(text[call.end() : -1], ",")]
        # Of one argument these are functions of a vector of samples, which has no bounds here.
        if len(inner) > 1:
            return _least_of(inner) if call[1] == "min" else _most_of(inner)
    if text.startswith("(") and _closing(text, 0) == len(text) - 1:
        return _bounds(text[1:-1], known, depth + 1)
    return _ANYTHING


def _least_of(values: list[Bounds]) -> Bounds:
    """min(): one upper bound is enough, a lower one takes all."""
    mosts = [each.most for each in values if each.most is not None]
    leasts = [each.least for each in values if each.least is not None]
    return Bounds(min(leasts) if len(leasts) == len(values) else None, min(mosts, default=None))


def _most_of(values: list[Bounds]) -> Bounds:
    """max(): one lower bound is enough, an upper one takes all."""
    mosts = [each.most for each in values if each.most is not None]
    leasts = [each.least for each in values if each.least is not None]
    return Bounds(max(leasts, default=None), max(mosts) if len(mosts) == len(values) else None)


def _hull(values: list[Bounds]) -> Bounds:
    mosts = [each.most for each in values if each.most is not None]
    leasts = [each.least for each in values if each.least is not None]
    return Bounds(
        min(leasts) if len(leasts) == len(values) else None, max(mosts) if len(mosts) == len(values) else None
    )


def _parts(text: str, separator: str) -> list[str]:
    """The text between separators outside all parentheses."""
    parts, depth, begin = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == separator and depth == 0:
            parts.append(text[begin:index])
            begin = index + 1
    return [*parts, text[begin:]]


def _closing(text: str, opening: int) -> int:
    """Where the parenthesis that opens at `opening` is closed; -1 if it never is."""
    depth = 0
    for index in range(opening, len(text)):
        depth += (text[index] == "(") - (text[index] == ")")
        if depth == 0:
            return index
    return -1
