"""Values of Azure Batch's formulas, and what the documentation's tables of operations and functions do with them.

https://learn.microsoft.com/azure/batch/batch-automatic-scaling: types, operations, functions. What is in no table is an
error, and so are division by zero and functions of an empty vector, which it does not mention.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass


class FormulaError(Exception):
    """The formula is not legal, or its evaluation failed; Batch leaves the pool as it is."""


@dataclass(frozen=True)
class Interval:
    seconds: float


@dataclass(frozen=True)
class Metric:
    name: str


Value = float | list[float] | Interval | Metric


def as_double(value: Value) -> float:
    if not isinstance(value, float):
        raise FormulaError(f"no double: {value}")
    return value


def as_seconds(value: Value) -> float:
    if not isinstance(value, Interval):
        raise FormulaError(f"no timeinterval: {value}")
    return value.seconds


def _flat(values: Sequence[Value]) -> list[float]:
    """A doubleVecList as one vector."""
    return [item for value in values for item in (value if isinstance(value, list) else [as_double(value)])]


def _filled(function: Callable[[list[float]], float]) -> Callable[..., Value]:
    """A function of a doubleVecList that is not empty."""

    def called(*values: Value) -> Value:
        flat = _flat(values)
        if not flat:
            raise FormulaError("a function of an empty vector")
        return float(function(flat))

    return called


def _val(vector: Value, index: Value) -> Value:
    if not isinstance(vector, list) or not 0 <= as_double(index) < len(vector):
        raise FormulaError(f"val({vector}, {index})")
    return vector[int(as_double(index))]


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}
_COMPARISON: dict[str, Callable[[float, float], bool]] = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "&&": lambda left, right: bool(left and right),
    "||": lambda left, right: bool(left or right),
}
FUNCTIONS: dict[str, Callable[..., Value]] = {
    "avg": _filled(statistics.fmean),
    "len": lambda *values: float(len(_flat(values))),
    "max": _filled(max),
    "min": _filled(min),
    "norm": _filled(lambda flat: math.hypot(*flat)),
    "range": _filled(lambda flat: max(flat) - min(flat)),
    "std": _filled(statistics.stdev),
    "sum": lambda *values: float(sum(_flat(values))),
    "ceil": lambda value: float(math.ceil(as_double(value))),
    "floor": lambda value: float(math.floor(as_double(value))),
    "val": _val,
}


def operate(sign: str, left: Value, right: Value) -> Value:
    """The table of operations; whatever is not in it is an error."""
    if isinstance(left, Interval) or isinstance(right, Interval):
        if isinstance(left, Interval) and isinstance(right, Interval):
            if sign in ("+", "-"):
                return Interval(_ARITHMETIC[sign](left.seconds, right.seconds))
            if sign in _COMPARISON and sign not in ("&&", "||"):
                return float(_COMPARISON[sign](left.seconds, right.seconds))
        elif sign == "*" and isinstance(right, Interval):
            return Interval(as_double(left) * right.seconds)
        elif sign in ("*", "/") and isinstance(left, Interval):
            return Interval(_arithmetic(sign, left.seconds, as_double(right)))
    elif isinstance(left, list):
        others = right if isinstance(right, list) else [as_double(right)] * len(left)
        if sign in _ARITHMETIC and len(others) == len(left):
            return [_arithmetic(sign, one, other) for one, other in zip(left, others, strict=True)]
    elif isinstance(left, float) and isinstance(right, float):
        if sign in _ARITHMETIC:
            return _arithmetic(sign, left, right)
        return float(_COMPARISON[sign](left, right))
    raise FormulaError(f"no operation: {type(left).__name__} {sign} {type(right).__name__}")


def _arithmetic(sign: str, left: float, right: float) -> float:
    if sign == "/" and right == 0:
        raise FormulaError("a division by zero")
    return _ARITHMETIC[sign](left, right)
