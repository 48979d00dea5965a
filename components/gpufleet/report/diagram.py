"""The picture of a stack: zones, what lies in them, what keeps data, and what changes. Plain data, for two writers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from gpufleet.report.model import GpuPool, StackReport, Stored
from gpufleet.report.text import PAST, arrow, side

Part = TypeVar("Part", GpuPool, Stored)
MOST = 24
"""Pools, and stores, that are drawn: nobody reads a picture of more."""
REGION = "any zone"
"""Where what lies in no zone that is known is drawn."""


@dataclass(frozen=True, slots=True)
class Box:
    """title: a name. lines: what is said below it. operation: what happens to it, `same` for nothing. group: its
    placement group, if any."""

    key: str
    title: str
    lines: Sequence[str]
    operation: str
    group: str = ""

    @property
    def mark(self) -> str:
        """In words: colour alone says nothing to some readers."""
        return "" if self.operation == "same" else PAST.get(self.operation, self.operation).upper()


@dataclass(frozen=True, slots=True)
class Picture:
    """zones: name -> the boxes in it, REGION last. stored: what keeps data. links: from a pool's box to a store's."""

    name: str
    zones: Sequence[tuple[str, Sequence[Box]]]
    stored: Sequence[Box]
    links: Sequence[tuple[str, str]]


def picture(stack: StackReport) -> Picture:
    """The picture of one stack."""
    places: dict[str, list[Box]] = {}
    boxes: list[tuple[Box, frozenset[str]]] = []
    pools = _shown(stack.gpus)
    for number, pool in enumerate(pools):
        now = pool.after or pool.before
        assert now is not None
        place = ", ".join(now.zones) or REGION
        box = Box(f"p{number}", pool.name, _lines(pool), _operation(pool), _group(pool))
        places.setdefault(place, []).append(box)
        boxes.append((box, frozenset(now.zones)))
    stores = _shown(stack.stored)
    kept = [
        Box(
            f"s{number}",
            each.name,
            [each.kind, *([f"in {', '.join(each.zones)}"] if each.zones else [])],
            each.operation,
        )
        for number, each in enumerate(stores)
    ]
    if left := len(stack.gpus) - len(pools):
        places.setdefault(REGION, []).append(Box("more_pools", f"and {left} pools more", [], "same"))
    if left := len(stack.stored) - len(stores):
        kept.append(Box("more_stores", f"and {left} more", [], "same"))
    links = [
        (box.key, f"s{number}") for number, each in enumerate(stores) for box, zones in boxes if zones & set(each.zones)
    ]
    ordered = sorted(places.items(), key=lambda item: (item[0] == REGION, item[0]))
    return Picture(stack.name, ordered, kept, links)


def _shown(listed: Sequence[Part]) -> Sequence[Part]:
    """The first `MOST`, those that change before all others."""
    return sorted(listed, key=lambda each: each.operation == "same")[:MOST]


def _operation(pool: GpuPool) -> str:
    if pool.before is None and pool.operation == "same":
        return "create"
    return pool.operation


def _group(pool: GpuPool) -> str:
    now = pool.after or pool.before
    return "placement group" if now is not None and now.placement not in (None, "none") else ""


def _lines(pool: GpuPool) -> list[str]:
    now = pool.after or pool.before
    assert now is not None
    market = now.market or "market not known"
    gpus = "" if now.gpus is None else f", {now.gpus} GPUs at most"
    return [arrow(side(pool.before) if pool.before else "", side(pool.after) if pool.after else "none"), market + gpus]
