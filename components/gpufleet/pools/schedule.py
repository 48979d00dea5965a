"""Scheduled scaling: sizes of a pool by the hours of the week, for nights and weekends.

No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, get_args

from gpufleet.pools.eks_pool import EksPool

Day = Literal["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
DAYS: tuple[Day, ...] = get_args(Day)
"""Names of the days; the index is the number in cron."""


class ScheduleEntry(TypedDict):
    """Sizes of a pool from a moment of the week on, until the next entry of its schedule."""

    at: str
    """Time of day, for instance "20:00"; in quotes."""
    days: NotRequired[Sequence[Day]]
    """Days of the week: mon, tue, wed, thu, fri, sat, sun. Default: every day."""
    time_zone: NotRequired[str]
    """Of that time, for instance Europe/Berlin; it follows summer time. Default UTC."""
    min: NotRequired[int]
    """Nodes that always run from then on. Default: the pool's min, or fewer where max is lower."""
    max: NotRequired[int]
    """Most nodes from then on; 0 ends what runs. Default: the pool's max."""


class ScheduledPool(EksPool):
    """A pool with scheduled scaling: a node group of EKS."""

    schedule: NotRequired[Sequence[ScheduleEntry]]
    """Sizes by the hours of the week, for nights and weekends. Default: min and max at all times."""


def cron_of(entry: Mapping[str, Any]) -> str:
    """The cron expression of an entry's start. The entry has passed `validate_schedule`."""
    hour, minute = map(int, str(entry["at"]).split(":"))
    chosen = {DAYS.index(day) for day in entry.get("days", DAYS)}
    days = "*" if len(chosen) == len(DAYS) else ",".join(map(str, sorted(chosen)))
    return f"{minute} {hour} * * {days}"


def sizes_of(entry: Mapping[str, Any], pool: Mapping[str, Any]) -> tuple[int, int]:
    """min and max of an entry; the pool's where the entry has none."""
    most = int(entry.get("max", pool["max"]))
    return int(entry.get("min", min(int(pool.get("min", 0)), most))), most
