"""Azure Batch's evaluation of autoscale formulas, as tests and rehearsals play it.

Knows what https://learn.microsoft.com/azure/batch/batch-automatic-scaling documents (tables of variables, operations,
functions and methods of samples), and refuses the rest: what Azure makes of it is not known. Facts from elsewhere:

- GetSample over a time without a share wants 70 percent: Azure/batch-shipyard#138 ("wanted 70%, received 0%").
- a ? b : c evaluates only the branch it takes: the fix of Azure/batch-shipyard#138.
- Targets are truncated to whole nodes: Azure/Batch#151. $Target... and $Current... read as numbers and GetSamplePercent
  compares as one in Microsoft's examples, although the tables call the first objects and the second a doubleVec.

Stricter than Azure may be: metrics of samples as plain numbers, division by zero, an empty vector, GetSample(count)
without that many samples, a negative target and a user's variable named like a function are errors. Not known here:
timestamps, strings, rand() and the metrics of nodes; the formulas under test use none.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter

from gpufleet_rehearsal.azure_batch.formula_values import (
    FUNCTIONS,
    FormulaError,
    Interval,
    Metric,
    Value,
    as_double,
    as_seconds,
    operate,
)

PERIOD = 30.0
"""Seconds from one sample to the next."""
DEFAULT_SHARE = 70.0
MOST_STATEMENTS, MOST_BYTES = 100, 8192
SAMPLED = ("$ActiveTasks", "$RunningTasks", "$PendingTasks", "$SucceededTasks", "$FailedTasks", "$PreemptedNodeCount")
CURRENT = ("$CurrentDedicatedNodes", "$CurrentLowPriorityNodes")
TARGETS = ("$TargetDedicatedNodes", "$TargetLowPriorityNodes")
DEALLOCATION = "$NodeDeallocationOption"
OPTIONS = ("requeue", "terminate", "taskcompletion", "retaineddata")
SECONDS = {
    "TimeInterval_Zero": 0.0,
    "TimeInterval_Millisecond": 0.001,
    "TimeInterval_Second": 1.0,
    "TimeInterval_Minute": 60.0,
    "TimeInterval_Hour": 3600.0,
    "TimeInterval_Day": 86400.0,
    "TimeInterval_Week": 604800.0,
}
_LEVELS = (("||",), ("&&",), ("==", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/"))
_TOKEN = re.compile(
    r"\s+|//[^\n]*|/\*.*?\*/|(?P<number>\d+(?:\.\d+)?)|(?P<name>\$?[A-Za-z_]\w*)"
    r"|(?P<sign><=|>=|==|!=|&&|\|\||[-+*/<>!?:;=(),.])",
    re.S,
)


class InsufficientSampleData(FormulaError):
    """GetSample found fewer samples than it wants."""


Words = Mapping[str, float]


@dataclass
class Samples:
    """What Batch has recorded, {metric: [(second, value)]} in the order of time; `now` and `late` say which of it a
    formula can see."""

    recorded: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    now: float = 0.0
    late: float = 60.0

    def between(self, metric: str, oldest: float, newest: float) -> list[float]:
        """Values of `oldest` to `newest` seconds ago, oldest first."""
        samples = self.recorded.get(metric, [])
        last = min(self.now - newest, self.now - self.late)
        first, behind = (bisect_right(samples, time, key=itemgetter(0)) for time in (self.now - oldest, last))
        return [value for _, value in samples[first:behind]]


@dataclass(frozen=True)
class Result:
    """Targets that the formula assigned, {variable: whole nodes}, and what it does with tasks on nodes that go."""

    targets: dict[str, int]
    deallocation: str


def evaluate(formula: str, samples: Samples, current: Words, targets: Words) -> Result:
    """current: nodes that there are, targets: those asked for before, both by variable. Errors: FormulaError."""
    if len(formula.encode()) > MOST_BYTES:
        raise FormulaError("the formula is above 8 KB")
    return _Evaluation(_tokens(formula), samples, {**current, **targets}).run()


@lru_cache(maxsize=32)
def _tokens(formula: str) -> Sequence[tuple[str, str]]:
    """A pool evaluates one formula again and again."""
    found, position = [], 0
    while position < len(formula):
        match = _TOKEN.match(formula, position)
        if not match:
            raise FormulaError(f"no token of the language: {formula[position : position + 10]!r}")
        if match.lastgroup:
            found.append((match.lastgroup, match[0]))
        position = match.end()
    return [*found, ("end", "")]


class _Evaluation:
    """Parses and evaluates in one pass; what is not to be evaluated (`live` False) is parsed all the same."""

    def __init__(self, tokens: Sequence[tuple[str, str]], samples: Samples, numbers: Words) -> None:
        self.tokens, self.at, self.live = tokens, 0, True
        self.samples, self.numbers = samples, dict(numbers)
        self.variables: dict[str, Value] = {}
        self.result = Result({}, "requeue")

    def run(self) -> Result:
        statements = 0
        while self.tokens[self.at][0] != "end":
            self._statement()
            statements += 1
            # The last statement of some of Microsoft's examples has no semicolon.
            if self.tokens[self.at][0] != "end":
                self._expect(";")
        if statements > MOST_STATEMENTS:
            raise FormulaError(f"{statements} statements, and {MOST_STATEMENTS} are legal")
        return self.result

    def _statement(self) -> None:
        kind, name = self._next()
        if kind != "name":
            raise FormulaError(f"a statement begins with {name!r}, not with a variable")
        self._expect("=")
        if name == DEALLOCATION:
            word = self._next()[1]
            if word not in OPTIONS:
                raise FormulaError(f"{DEALLOCATION} is not one of {OPTIONS}: {word!r}")
            self.result = Result(self.result.targets, word)
            return
        if name in (*SAMPLED, *CURRENT):
            raise FormulaError(f"{name} is read-only")
        if name in SECONDS or name in FUNCTIONS or name in OPTIONS:
            raise FormulaError(f"{name} is a word of the language")
        value = self._expression()
        if name in TARGETS:
            number = as_double(value)
            if not 0 <= number < math.inf:
                raise FormulaError(f"{name} = {number}")
            self.numbers[name] = self.result.targets[name] = int(number)
        elif isinstance(value, Metric):
            raise FormulaError(f"{name} = {value.name}: a metric is not a value")
        else:
            self.variables[name] = value

    def _expression(self) -> Value:
        condition = self._binary(0)
        if not self._accept("?"):
            return condition
        taken, live = bool(as_double(condition)), self.live
        self.live = live and taken
        first = self._expression()
        self._expect(":")
        self.live = live and not taken
        second = self._expression()
        self.live = live
        return first if taken else second

    def _binary(self, level: int) -> Value:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self.tokens[self.at][1] in _LEVELS[level]:
            sign = self._next()[1]
            right = self._binary(level + 1)
            left = operate(sign, left, right) if self.live else 0.0
        return left

    def _unary(self) -> Value:
        if self._accept("-"):
            value = self._unary()
            return Interval(-value.seconds) if isinstance(value, Interval) else -as_double(value)
        if self._accept("!"):
            return float(not as_double(self._unary()))
        return self._primary()

    def _primary(self) -> Value:
        kind, text = self._next()
        if kind == "number":
            return float(text)
        if text == "(":
            value = self._expression()
            self._expect(")")
            return value
        if kind != "name":
            raise FormulaError(f"{text!r} is not a value")
        if self._accept("("):
            if text not in FUNCTIONS:
                raise FormulaError(f"{text}() is not a function")
            return self._called(FUNCTIONS[text], self._arguments())
        if text in SECONDS:
            return Interval(SECONDS[text])
        if text in SAMPLED:
            return self._method(Metric(text))
        if text in self.numbers:
            return float(self.numbers[text])
        if text in self.variables:
            return self.variables[text]
        raise FormulaError(f"{text} has no value")

    def _method(self, metric: Metric) -> Value:
        if not self._accept("."):
            return metric
        name = self._next()[1]
        self._expect("(")
        arguments = self._arguments()
        if name == "GetSample":
            return self._called(self._get_sample, [metric, *arguments])
        if name == "GetSamplePercent":
            return self._called(self._get_percent, [metric, *arguments])
        if name == "Count" and not arguments:
            return float(len(self.samples.between(metric.name, math.inf, 0)))
        raise FormulaError(f"{metric.name}.{name}() is not a method")

    def _called(self, function: Callable[..., Value], arguments: list[Value]) -> Value:
        return function(*arguments) if self.live else 0.0

    def _window(self, metric: Value, times: list[Value]) -> tuple[list[float], float]:
        if not isinstance(metric, Metric) or not 1 <= len(times) <= 2:
            raise FormulaError("samples are of one metric, and of one or two times")
        seconds = sorted([*(as_seconds(time) for time in times), *([0.0] if len(times) == 1 else [])])
        if seconds[0] < 0 or seconds[0] == seconds[1]:
            raise FormulaError(f"no time to take samples of: {seconds}")
        found = self.samples.between(metric.name, seconds[1], seconds[0])
        return found, min(100.0, 100.0 * len(found) * PERIOD / (seconds[1] - seconds[0]))

    def _get_percent(self, metric: Value, *times: Value) -> Value:
        return self._window(metric, list(times))[1]

    def _get_sample(self, metric: Value, *arguments: Value) -> Value:
        times = [each for each in arguments if isinstance(each, Interval)]
        rest = [as_double(each) for each in arguments[len(times) :]]
        if not times and isinstance(metric, Metric) and len(rest) == 1:
            all_of_it = self.samples.between(metric.name, math.inf, 0)
            if rest[0] < 1 or len(all_of_it) < rest[0]:
                raise InsufficientSampleData(f"{metric.name}: {len(all_of_it)} samples")
            return all_of_it[-int(rest[0]) :]
        if len(rest) > 1:
            raise FormulaError("GetSample takes a count, or times and a share")
        wanted = rest[0] if rest else DEFAULT_SHARE
        found, percent = self._window(metric, list(times))
        if percent < wanted:
            raise InsufficientSampleData(f"wanted {wanted:g}%, received {percent:g}%")
        return found

    def _arguments(self) -> list[Value]:
        found: list[Value] = []
        while not self._accept(")"):
            if found:
                self._expect(",")
            found.append(self._expression())
        return found

    def _next(self) -> tuple[str, str]:
        self.at += 1
        return self.tokens[self.at - 1]

    def _accept(self, sign: str) -> bool:
        if self.tokens[self.at] != ("sign", sign):
            return False
        self.at += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            raise FormulaError(f"{self.tokens[self.at][1]!r} where {sign!r} belongs")
