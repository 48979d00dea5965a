"""Charges of resource types, and free types, from the data files beside this module."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, cast

from gpufleet.cost.usage_assumptions import HOURS
from gpufleet.documents.json import read_json


@dataclass(frozen=True, slots=True)
class Charge:
    """One thing that a resource of some type is billed for.

    by: time (730 hours a month), month (once), an amount of `Usage` that all resources with this charge share, or
    property:<path> for an amount that the resource itself states. times: property that says how many there are, a
    number or a list. when, unless: property -> values with (without) which the charge applies, null for none given.
    default: what a property is when it is not given. included: what costs nothing of the amount. most: property that
    says how much there can be at most, where it is given. above, upto: the part of the stack's whole amount that has
    this price; a part that the amount does not reach has no line. committed: paid whether used or not.
    `{property}` in what and item stands for the property's value; an item node:<type> is the price of a node.
    """

    what: str
    service: str
    item: str
    unit: str
    by: str
    times: str = ""
    when: Mapping[str, Sequence[object]] = field(default_factory=dict)
    unless: Mapping[str, Sequence[object]] = field(default_factory=dict)
    default: Mapping[str, object] = field(default_factory=dict)
    included: float = 0.0
    most: str = ""
    above: float = 0.0
    upto: float = math.inf
    committed: bool = False

    @property
    def moved(self) -> bool:
        """Whether it is for transferred data, which occurs only while jobs run."""
        return self.unit == "GB"

    @property
    def hours(self) -> float:
        """Hours of a month for which each of what is assumed is billed: 1 for what is billed by itself."""
        return HOURS if self.unit == "vCPU-hour" else 1.0


@cache
def charges() -> Mapping[str, Sequence[Charge]]:
    """Resource type -> its charges."""
    return {kind: tuple(Charge(**each) for each in found) for kind, found in _read("charges.json").items()}


@cache
def free_reason(kind: str) -> str | None:
    """Why resources of a type are free; None for a type missing in the table."""
    return next((why for pattern, why in _free() if fnmatchcase(kind, pattern)), None)


@cache
def _free() -> Sequence[tuple[str, str]]:
    return tuple(_read("free_types.json").items())


def _read(name: str) -> dict[str, Any]:
    content = read_json(Path(__file__).with_name(name))
    return cast("dict[str, Any]", content)
