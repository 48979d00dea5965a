"""The diagram of a stack: its network and cluster, zones with their pools, data stores, and what changes.

Data for two renderers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from gpufleet.report.model import DataStore, GpuPool, StackReport, Surrounding
from gpufleet.report.text import PAST_TENSE, before_and_after, pool_size

Part = TypeVar("Part", GpuPool, DataStore)
MAX_ITEMS = 24
"""Most pools, and most stores, that are drawn; a larger diagram is unreadable."""
REGION = "any zone"
"""Heading of pools whose zone is not known."""


@dataclass(frozen=True, slots=True)
class DiagramBox:
    """title: a name. lines: the text below it. operation: what happens to it, `same` for nothing. group: its
    placement group, if any."""

    key: str
    title: str
    lines: Sequence[str]
    operation: str
    group: str = ""

    @property
    def mark(self) -> str:
        """The operation in words: not every reader sees the colour."""
        return "" if self.operation == "same" else PAST_TENSE.get(self.operation, self.operation).upper()


@dataclass(frozen=True, slots=True)
class Diagram:
    """frames: around all zones, the outermost first; each a network or a cluster, or several of one kind. zones: name
    -> the boxes in it, REGION last. stored: what keeps data. links: from a pool's box to a store's."""

    name: str
    frames: Sequence[DiagramBox]
    zones: Sequence[tuple[str, Sequence[DiagramBox]]]
    stored: Sequence[DiagramBox]
    links: Sequence[tuple[str, str]]


def build_diagram(stack: StackReport) -> Diagram:
    """The diagram of one stack."""
    places: dict[str, list[DiagramBox]] = {}
    boxes: list[tuple[DiagramBox, frozenset[str]]] = []
    pools = _shown(stack.gpus)
    for number, pool in enumerate(pools):
        now = pool.after or pool.before
        assert now is not None
        place = ", ".join(now.zones) or REGION
        box = DiagramBox(f"p{number}", pool.name, _lines(pool), _operation(pool), _group(pool))
        places.setdefault(place, []).append(box)
        boxes.append((box, frozenset(now.zones)))
    stores = _shown(stack.stored)
    kept = [
        DiagramBox(
            f"s{number}",
            each.name,
            [each.kind, *([f"in {', '.join(each.zones)}"] if each.zones else [])],
            each.operation,
        )
        for number, each in enumerate(stores)
    ]
    if left := len(stack.gpus) - len(pools):
        places.setdefault(REGION, []).append(DiagramBox("more_pools", f"and {left} pools more", [], "same"))
    if left := len(stack.stored) - len(stores):
        kept.append(DiagramBox("more_stores", f"and {left} more", [], "same"))
    links = [
        (box.key, f"s{number}") for number, each in enumerate(stores) for box, zones in boxes if zones & set(each.zones)
    ]
    ordered = sorted(places.items(), key=lambda item: (item[0] == REGION, item[0]))
    return Diagram(stack.name, _frames(stack.surroundings) if ordered else [], ordered, kept, links)


def _frames(surroundings: Sequence[Surrounding]) -> list[DiagramBox]:
    """One frame for the networks and one for the clusters: which pool is in which of several is not drawn."""
    frames = []
    for kind in ("network", "cluster"):
        parts = [each for each in surroundings if each.kind == kind]
        if not parts:
            continue
        names = ", ".join(each.name for each in parts)
        details = ", ".join(each.detail for each in parts if each.detail)
        operations = {each.operation for each in parts}
        operation = operations.pop() if len(operations) == 1 else "change"
        title = f"{kind} {names}" if len(parts) == 1 else f"{kind}s {names}"
        frames.append(DiagramBox(kind, title, [details] if details else [], operation))
    return frames


def _shown(listed: Sequence[Part]) -> Sequence[Part]:
    """The first `MAX_ITEMS`, those that change before all others."""
    return sorted(listed, key=lambda each: each.operation == "same")[:MAX_ITEMS]


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
    return [
        before_and_after(
            pool_size(pool.before) if pool.before else "", pool_size(pool.after) if pool.after else "none"
        ),
        market + gpus,
    ]
