"""The closed list of operators in which the cloud's table says *when* something is so.

A condition is an object with exactly one key, its operator; the docstring of each class below shows how it is written.
The operators that look at other resources of the cloud are in `cloud_conditions.py`; paths are those of `paths.py`. A
path that leads nowhere makes every comparison false (use `absent` to ask for that). An unknown operator, a misspelt
field or an unreadable path is an error when the table is loaded.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, SerializeAsAny

from gpufleet_rehearsal.table.paths import Json, Scope, parse_path, plain
from gpufleet_rehearsal.table.templates import parse_template


def _readable_path(text: str) -> str:
    parse_path(text)
    return text


def _readable_template(text: str) -> str:
    parse_template(text)
    return text


def _readable_pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"pattern {text!r}: {error}") from None
    return text


PathText: TypeAlias = Annotated[str, AfterValidator(_readable_path)]
TemplateText: TypeAlias = Annotated[str, AfterValidator(_readable_template)]
Pattern: TypeAlias = Annotated[str, AfterValidator(_readable_pattern)]
Scalar: TypeAlias = bool | int | float | str


OPERATORS: dict[str, type[Condition]] = {}
"""Every operator by its name; `cloud_conditions.py` adds those that look at other resources."""


class Condition(BaseModel, ABC):
    """One operator. `holds` answers it for a resource in its cloud."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    short: ClassVar[str] = ""
    """The field that the operator's value fills when it is not an object of the fields themselves."""

    def __init_subclass__(cls, *, operator: str) -> None:
        super().__init_subclass__()
        OPERATORS[operator] = cls

    @abstractmethod
    def holds(self, scope: Scope) -> bool:
        """Whether it is so for the resource `scope.here`."""


def _read(value: object) -> object:
    if isinstance(value, Condition):
        return value
    if not isinstance(value, Mapping) or len(value) != 1:
        raise ValueError(f"a condition is an object with one key, its operator; got {value!r}")
    ((operator, fields),) = value.items()
    model = OPERATORS.get(str(operator))
    if model is None:
        raise ValueError(f"unknown operator {operator!r}; known are {', '.join(sorted(OPERATORS))}")
    return model.model_validate({model.short: fields} if model.short else fields)


When: TypeAlias = Annotated[SerializeAsAny[Condition], BeforeValidator(_read)]
"""A field of the table that holds a condition."""


def values_at(path: str, scope: Scope) -> list[Json]:
    return parse_path(path).values(scope)


def same(left: Json, right: Json) -> bool:
    """Equality of values as the wire has them: true is "true", 2 is "2"."""
    if isinstance(left, str) and isinstance(right, str):
        return left == right
    if isinstance(left, (Mapping, list, tuple)) or isinstance(right, (Mapping, list, tuple)):
        return left == right
    return left is not None and right is not None and plain(left) == plain(right)


class All(Condition, operator="all"):
    """`all: [condition, ...]`: every one of them."""

    short = "of"
    of: list[When]

    def holds(self, scope: Scope) -> bool:
        return all(condition.holds(scope) for condition in self.of)


class AnyOf(Condition, operator="any"):
    """`any: [condition, ...]`: at least one of them."""

    short = "of"
    of: list[When]

    def holds(self, scope: Scope) -> bool:
        return any(condition.holds(scope) for condition in self.of)


class Not(Condition, operator="not"):
    """`not: condition`."""

    short = "of"
    of: When

    def holds(self, scope: Scope) -> bool:
        return not self.of.holds(scope)


class Present(Condition, operator="present"):
    """`present: path`: something is there (an empty text, list or object is not)."""

    short = "path"
    path: PathText

    def holds(self, scope: Scope) -> bool:
        return any(value not in ("", [], {}) for value in values_at(self.path, scope))


class Absent(Condition, operator="absent"):
    """`absent: path`: nothing is there."""

    short = "path"
    path: PathText

    def holds(self, scope: Scope) -> bool:
        return not any(value not in ("", [], {}) for value in values_at(self.path, scope))


class Equals(Condition, operator="equals"):
    """`equals: {path: value, ...}`: at each path, some value is this one."""

    short = "pairs"
    pairs: dict[PathText, Scalar]

    def holds(self, scope: Scope) -> bool:
        return all(any(same(v, wanted) for v in values_at(path, scope)) for path, wanted in self.pairs.items())


class Differs(Condition, operator="differs"):
    """`differs: {path: value, ...}`: at each path there is something, and some of it is not this value."""

    short = "pairs"
    pairs: dict[PathText, Scalar]

    def holds(self, scope: Scope) -> bool:
        return all(any(not same(v, unwanted) for v in values_at(path, scope)) for path, unwanted in self.pairs.items())


class In(Condition, operator="in"):
    """`in: {path: [value, ...], ...}`: at each path, some value is one of the list."""

    short = "pairs"
    pairs: dict[PathText, list[Scalar]]

    def holds(self, scope: Scope) -> bool:
        return all(
            any(same(v, wanted) for v in values_at(path, scope) for wanted in some) for path, some in self.pairs.items()
        )


class Matches(Condition, operator="matches"):
    """`matches: {path: pattern, ...}`: at each path, the pattern (re.search, dot matches newlines) is found in some
    value."""

    short = "pairs"
    pairs: dict[PathText, Pattern]

    def holds(self, scope: Scope) -> bool:
        return all(
            any(re.search(pattern, plain(value), re.DOTALL) for value in values_at(path, scope))
            for path, pattern in self.pairs.items()
        )


class Same(Condition, operator="same"):
    """`same: [path, path]`: some value of the first is also a value of the second."""

    short = "paths"
    paths: tuple[PathText, PathText]

    def holds(self, scope: Scope) -> bool:
        left, right = (values_at(path, scope) for path in self.paths)
        return any(same(a, b) for a in left for b in right)


def _limit(limit: float | str | None, scope: Scope) -> list[float]:
    if isinstance(limit, str):
        return [float(plain(value)) for value in values_at(limit, scope)]
    return [] if limit is None else [limit]


Limit: TypeAlias = int | float | PathText | None


class Number(Condition, operator="number"):
    """`number: {of: path, above: 3, below: maxSize}`: some value there is above and below the limits, each a number or
    the path of one; a limit whose path leads nowhere does not hold. Text that is a number counts as one."""

    of: PathText
    above: Limit = None
    below: Limit = None

    def holds(self, scope: Scope) -> bool:
        limits = [x for x in (self.above, self.below) if x is not None]
        if any(not _limit(limit, scope) for limit in limits):
            return False
        above, below = _limit(self.above, scope), _limit(self.below, scope)
        return any(
            all(float(plain(value)) > limit for limit in above) and all(float(plain(value)) < limit for limit in below)
            for value in values_at(self.of, scope)
        )


class Count(Condition, operator="count"):
    """`count: {of: path, distinct: true, above: 1, below: 5, equals: 2}`: how many values there are; `distinct` counts
    equal ones once, `repeated` only those that were there before (two subnets in one zone)."""

    of: PathText
    distinct: bool = False
    repeated: bool = False
    above: int | None = None
    below: int | None = None
    equals: int | None = None

    def holds(self, scope: Scope) -> bool:
        values = values_at(self.of, scope)
        different = len({plain(value) for value in values})
        size = different if self.distinct else len(values) - (different if self.repeated else 0)
        return (
            (self.above is None or size > self.above)
            and (self.below is None or size < self.below)
            and (self.equals is None or size == self.equals)
        )


class Repeated(Condition, operator="repeated"):
    """`repeated: {of: "securityRules[*]", by: [direction, priority]}`: two of the objects there have the same values
    under all these keys, upper and lower case aside. An object that lacks one of them is like no other."""

    of: PathText
    by: list[str]

    def holds(self, scope: Scope) -> bool:
        objects = [value for value in values_at(self.of, scope) if isinstance(value, Mapping)]
        whole = [each for each in objects if all(each.get(key) is not None for key in self.by)]
        seen = {tuple(plain(each[key]).lower() for key in self.by) for each in whole}
        return len(seen) < len(whole)


class Some(Condition, operator="some"):
    """`some: {of: path, when: condition}`: for some value there, bound to `$it`, the condition holds."""

    of: PathText
    when: When

    def holds(self, scope: Scope) -> bool:
        return any(self.when.holds(scope.with_item(value)) for value in values_at(self.of, scope))


class Every(Condition, operator="every"):
    """`every: {of: path, when: condition}`: there is something, and for each of it, bound to `$it`, it holds."""

    of: PathText
    when: When

    def holds(self, scope: Scope) -> bool:
        values = values_at(self.of, scope)
        return bool(values) and all(self.when.holds(scope.with_item(value)) for value in values)
