"""Which environments have had their time. Nothing here ends any: `gpufleet.fleet.reap` does."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from gpufleet.fleet.environment import EnvironmentSummary


class ReapVerdict(StrEnum):
    """What is to become of an environment; the words stand in JSON and in docs/ps.md."""

    STAYS = "stays"
    """Its end has not come, or it has none, or there is nothing of it that ends."""
    GRACE = "in-grace"
    """Its end has passed, and its grace has not."""
    SPARED = "spared"
    """Due, but for what the caller said to keep."""
    BUSY = "busy"
    """Due, but somebody works on it."""
    DUE = "due"
    """Its end and its grace have passed."""
    UNREAD = "unread"
    """Nobody can tell: its state cannot be read."""
    DESTROYED = "destroyed"
    FAILED = "failed"
    """Destroying it has failed."""


@dataclass(frozen=True)
class ReapDecision:
    """An environment and its verdict. until: when its grace ends, where it has an end; why: of what has failed."""

    environment: EnvironmentSummary
    verdict: ReapVerdict
    until: datetime | None = None
    why: str = ""


def decide_reap(
    environment: EnvironmentSummary, now: datetime, grace: timedelta, spared: Sequence[str] = ()
) -> ReapDecision:
    """The verdict on an environment. grace: for one that does not say its own.

    spared: names that stay whatever their end, as stack or project/stack; * is a wildcard.
    """
    if environment.fault:
        return ReapDecision(environment, ReapVerdict.UNREAD, why=environment.fault)
    if environment.end is None or not environment.ending:
        return ReapDecision(environment, ReapVerdict.STAYS)
    until = environment.end.moment + (grace if environment.grace is None else environment.grace)
    if not environment.end.past(now):
        return ReapDecision(environment, ReapVerdict.STAYS, until)
    if now < until:
        return ReapDecision(environment, ReapVerdict.GRACE, until)
    if any(fnmatchcase(name, each) for each in spared for name in (environment.stack, environment.name)):
        return ReapDecision(environment, ReapVerdict.SPARED, until)
    return ReapDecision(environment, ReapVerdict.BUSY if environment.updating else ReapVerdict.DUE, until)
