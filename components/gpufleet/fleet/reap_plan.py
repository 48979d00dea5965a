"""Decide which environments are destroyed; `gpufleet.fleet.reap` destroys them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from gpufleet.fleet.environment import EnvironmentSummary


class ReapVerdict(StrEnum):
    """What happens to an environment; the values are in JSON and in docs/ps.md."""

    STAYS = "stays"
    """It has not expired, has no expiry, or has nothing to delete."""
    GRACE = "in-grace"
    """It has expired, and its grace period has not."""
    SPARED = "spared"
    """Due, but kept by --keep."""
    BUSY = "busy"
    """Due, but an update of it is running."""
    DUE = "due"
    """Its expiry and its grace period have passed."""
    UNREAD = "unread"
    """Its state cannot be read."""
    DESTROYED = "destroyed"
    FAILED = "failed"
    """Destroying it failed."""


@dataclass(frozen=True)
class ReapDecision:
    """An environment and its verdict. until: when its grace ends, where it has an end; why: the reason of a failure."""

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
