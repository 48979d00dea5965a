"""Line items of an estimate: an amount for each figure, times a price, which may be unknown."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta

from gpufleet.cost.usage_assumptions import HOURS

FIGURES = ("floor", "steady", "ceiling")
"""floor: what is always paid. steady: a month as the assumptions have it. ceiling: the most that may run, all month."""

OLD_AFTER = timedelta(days=180)
"""Age above which a price is marked as old."""


@dataclass(frozen=True, slots=True)
class PriceTag:
    """A price as the catalog has it. usd: None if not known. unit: hour, GB, GB-month ...

    of: what the catalog was asked for. source and as_of are empty where it has no record at all. node: whether it is
    the price of a machine, which outweighs all others.
    """

    of: str
    unit: str
    usd: float | None
    source: str = ""
    as_of: str = ""
    node: bool = False

    def is_old(self, today: date) -> bool:
        """Whether the price is of more than 180 days ago. A month counts from its last day, an unknown date as new."""
        return bool(self.as_of) and today - _day(self.as_of) > OLD_AFTER


@dataclass(frozen=True, slots=True)
class Amounts:
    """How much a month has of something, for each figure, in the unit of its price. None: not known."""

    floor: float | None
    steady: float | None
    ceiling: float | None

    @classmethod
    def always(cls, amount: float | None) -> "Amounts":
        """The same in all three figures: what runs or is kept all month."""
        return cls(amount, amount, amount)

    @classmethod
    def moved(cls, amount: float) -> "Amounts":
        """What is only moved or written while jobs run: not in the floor."""
        return cls(0.0, amount, amount)

    def of(self, figure: str) -> float | None:
        amount: float | None = getattr(self, figure)
        return amount

    def times(self, count: float) -> "Amounts":
        return Amounts(*(None if (amount := self.of(figure)) is None else amount * count for figure in FIGURES))

    def plus(self, other: "Amounts") -> "Amounts":
        return Amounts(*(_plus(self.of(figure), other.of(figure)) for figure in FIGURES))


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of an estimate.

    what: in words. resources: logical names. committed: paid whether used or not, and decided where it was bought.
    note: what the reader should know about the amount or the price.
    """

    what: str
    resources: tuple[str, ...]
    price: PriceTag
    amounts: Amounts
    committed: bool = False
    note: str = ""

    def month(self, figure: str) -> float | None:
        """USD a month; None where price or amount are not known. None of something costs 0, whatever its price."""
        amount = self.amounts.of(figure)
        if amount == 0:
            return 0.0
        return None if amount is None or self.price.usd is None else amount * self.price.usd

    @property
    def unknown(self) -> bool:
        """Whether any of its figures is not known."""
        return any(self.month(figure) is None for figure in FIGURES)

    @property
    def reason(self) -> str:
        """Why it is unknown, in words; empty when it is known."""
        if not self.unknown:
            return ""
        if None in (self.amounts.floor, self.amounts.steady, self.amounts.ceiling):
            return self.note or "the amount is not known before deployment"
        return f"no price of {self.price.of}" + (f": {self.price.source}" if self.price.source else "")


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of what is known. unknown: lines that are not in it; with any, the sum is only the least."""

    month: float
    unknown: int

    @property
    def hour(self) -> float:
        return self.month / HOURS

    @property
    def complete(self) -> bool:
        return self.unknown == 0


def total_of(lines: Iterable[LineItem], figure: str) -> Total:
    """The sum of a figure over lines."""
    months = [line.month(figure) for line in lines]
    known = [month for month in months if month is not None]
    return Total(sum(known), len(months) - len(known))


def merge_lines(lines: Iterable[LineItem]) -> list[LineItem]:
    """Lines of the same thing at the same price as one, in the order in which they first come."""
    found: dict[tuple[object, ...], LineItem] = {}
    for line in lines:
        key = (line.what, line.price, line.committed, line.note)
        if (before := found.get(key)) is None:
            found[key] = line
            continue
        names = before.resources + tuple(name for name in line.resources if name not in before.resources)
        found[key] = LineItem(
            line.what, names, line.price, before.amounts.plus(line.amounts), line.committed, line.note
        )
    return list(found.values())


def amount_of(value: object) -> float | None:
    """A value as an amount; None if it is not a number, so that a mistake never lowers a total."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < math.inf else None


def _plus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _day(as_of: str) -> date:
    """The last day that a date of the catalog may mean: 2026-10-31 for 2026-10."""
    if len(as_of) > len("2026-10"):
        return date.fromisoformat(as_of)
    return (date.fromisoformat(f"{as_of}-28") + timedelta(days=4)).replace(day=1) - timedelta(days=1)
