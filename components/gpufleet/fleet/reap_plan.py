"""Decide which environments are destroyed; `gpufleet.fleet.reap` destroys them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase

from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.expires_at import later

PRODUCTION = ("prod", "production", "*-prod", "*-production")
"""Names of stacks that are never destroyed, whatever is given to --keep: somebody ends them with `pulumi destroy`."""


class ReapVerdict(StrEnum):
    """What happens to an environment; the values are in JSON and in docs/ps.md."""

    STAYS = "stays"
    """It has not expired, has no expiry, or has nothing to delete."""
    GRACE = "in-grace"
    """It has expired, and its grace period has not."""
    FOREIGN = "foreign"
    """It would be due, but is not certainly an environment of gpufleet's."""
    UNCERTAIN = "uncertain"
    """Its resources do not certainly say that it has expired, or hold data that nothing says may be deleted."""
    SPARED = "spared"
    """Due, but kept by --keep or by its name."""
    BUSY = "busy"
    """Due, but an update of it is running."""
    LOCKED = "locked"
    """Due, but it has the lock of an engine that cannot be at work any more."""
    DUE = "due"
    """Its expiry and its grace period have passed."""
    UNREAD = "unread"
    """Its state cannot be read."""
    DESTROYED = "destroyed"
    FAILED = "failed"
    """Destroying it failed."""


FAULTS = (ReapVerdict.FAILED, ReapVerdict.UNREAD, ReapVerdict.LOCKED)
"""Verdicts that somebody has to look into."""


@dataclass(frozen=True)
class ReapDecision:
    """An environment and its verdict. until: when its grace ends, where it has an end; why: the reason, if there is
    more than its age."""

    environment: EnvironmentSummary
    verdict: ReapVerdict
    until: datetime | None = None
    why: str = ""


def decide_reap(
    environment: EnvironmentSummary, now: datetime, grace: timedelta, kept: Sequence[str] = ()
) -> ReapDecision:
    """The verdict on an environment. grace: for one that does not say its own.

    kept: names that stay whatever their end, as stack or project/stack, beside those of production; * is a wildcard.
    """
    if environment.fault:
        return ReapDecision(environment, ReapVerdict.UNREAD, why=environment.fault)
    if not environment.ending:
        return ReapDecision(environment, ReapVerdict.STAYS)
    span = grace if environment.grace is None else environment.grace
    until = later(environment.end.moment, span) if environment.end else None
    verdict, why = _verdict(environment, now, until, kept)
    return ReapDecision(environment, verdict, until, why)


def unmatched_names(kept: Sequence[str], environments: Iterable[EnvironmentSummary]) -> list[str]:
    """Those of the names to keep that match no stack."""
    there = list(environments)
    return [each for each in kept if not any(_is_named(environment, each) for environment in there)]


def _verdict(
    environment: EnvironmentSummary, now: datetime, until: datetime | None, kept: Sequence[str]
) -> tuple[ReapVerdict, str]:
    if environment.doubt:
        would_be_due = until is not None and now >= until
        return (ReapVerdict.FOREIGN, environment.doubt) if would_be_due else (ReapVerdict.STAYS, "")
    past = environment.end is not None and environment.end.past(now)
    if environment.end_doubt and (past or environment.end_unreadable):
        return ReapVerdict.UNCERTAIN, environment.end_doubt
    if until is None or not past:
        return ReapVerdict.STAYS, ""
    if now < until:
        return ReapVerdict.GRACE, ""
    if name := next((each for each in (*PRODUCTION, *kept) if _is_named(environment, each)), None):
        return ReapVerdict.SPARED, f"production, {name}" if name in PRODUCTION else f"--keep {name}"
    if environment.loose_data:
        names = ", ".join(environment.loose_data)
        return ReapVerdict.UNCERTAIN, (
            f"{names}: data that is not protected, and no output `erase` says that it may be deleted; "
            "the next `up` of its program writes one or the other"
        )
    if environment.lock and environment.lock.is_old(now):
        return ReapVerdict.LOCKED, (
            f"{environment.lock.words}, longer than an update takes; if no engine is at work, run "
            f"`pulumi cancel --stack {environment.full_name}`"
        )
    if environment.updating:
        return ReapVerdict.BUSY, environment.lock.words if environment.lock else ""
    return ReapVerdict.DUE, ""


def _is_named(environment: EnvironmentSummary, pattern: str) -> bool:
    return any(fnmatchcase(name, pattern) for name in (environment.stack, environment.name))
