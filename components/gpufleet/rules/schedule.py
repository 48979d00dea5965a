"""Rules on a pool's scheduled scaling, and their validation."""

import re
from collections.abc import Collection, Mapping, Sequence
from zoneinfo import available_timezones

from gpufleet.pools.schedule import DAYS, sizes_of
from gpufleet.rules import coerce
from gpufleet.rules.generic import allowed_choice, distinct, not_empty
from gpufleet.rules.messages import nearest
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

MOST_ENTRIES = 125
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


@rule("any-hours-time", Severity.ERROR)
def time_of_day(*, argument: str, at: str) -> Outcome:
    """A time of day is 00:00 to 23:59.

    Source: ISO 8601; minute and hour of crontab(5).
    """
    if _TIME.fullmatch(at):
        return passed()
    return failed(argument, at, "is not a time of day", 'write hours and minutes in quotes, like "07:30"')


@rule("any-hours-zone", Severity.ERROR)
def time_zone(*, argument: str, zone: str, zones: Collection[str]) -> Outcome:
    """A time zone is one of IANA's names. zones: those that this machine knows, none where it has no list of them.

    Source: https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutScheduledUpdateGroupAction.html, TimeZone
    """
    if zone == "UTC" or zone in zones:
        return passed()
    if not zones:
        return unverified(argument, zone, "this machine has no list of time zones", "install tzdata, or use UTC")
    near = nearest(zone, zones)
    return failed(
        argument, zone, "is not a known time zone", f"did you mean {near}?" if near else "use UTC, or Europe/Berlin"
    )


@rule("any-hours-sizes", Severity.ERROR)
def sizes(*, argument: str, least: int, most: int, pool_most: int) -> Outcome:
    """Sizes of an entry are at least 0, min at most max, and max at most the pool's, which cost checks use.

    Source: AWS rejects a group whose minimum is above its maximum; the pool's max is its ceiling in `gpufleet cost`.
    """
    size = f"{least} to {most}"
    if least < 0 or most < 0:
        return failed(argument, size, "is below 0 nodes", "use 0 or more")
    if least > most:
        return failed(argument, size, "has min above max", f"use a min of {most} or fewer")
    if most > pool_most:
        return failed(argument, size, f"is above the pool's max={pool_most}", f"use {pool_most} or fewer")
    return passed()


@rule("any-hours-back", Severity.WARNING)
def comes_back(*, argument: str, mosts: Sequence[int]) -> Outcome:
    """A pool that a schedule scales to zero is scaled up by another entry.

    Source: our choice; with every entry at max 0 the pool has no node after the first of them.
    """
    if not mosts or any(mosts):
        return passed()
    return failed(argument, list(mosts), "leaves the pool without nodes forever", "add an entry with nodes")


@rule("aws-hours-number", Severity.ERROR)
def number_of_entries(*, number: int) -> Outcome:
    """An Auto Scaling group has at most 125 scheduled actions.

    Source: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-quotas.html
    """
    if number <= MOST_ENTRIES:
        return passed()
    return failed("schedule", number, "is more entries than a group may have", f"use at most {MOST_ENTRIES}")


def validate_schedule(pool: Mapping[str, object]) -> list[Finding]:
    """Every finding on a pool's schedule, passes included. Reads schedule, min and max; never raises.

    Values of another kind than declared are reported by `validate_arguments`.
    """
    entries = pool.get("schedule")
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        return []
    known = [each for each in entries if isinstance(each, Mapping)]
    findings = [number_of_entries(number=len(entries))]
    moments: list[str] = []
    mosts: list[int] = []
    pool_most = pool.get("max")
    zones = available_timezones() if known else set()
    for index, each in enumerate(known):
        here = f"schedule[{index}]"
        days = coerce.texts(each, "days") if "days" in each else DAYS
        findings += [
            time_of_day(argument=f"{here}.at", at=coerce.text(each, "at")),
            time_zone(argument=f"{here}.time_zone", zone=coerce.text(each, "time_zone", "UTC"), zones=zones),
            not_empty(argument=f"{here}.days", values=days, holds="day"),
            *(allowed_choice(argument=f"{here}.days", word=day, legal=DAYS) for day in days),
        ]
        moments += [f"{day} {coerce.text(each, 'at')} {coerce.text(each, 'time_zone', 'UTC')}" for day in days]
        numbers = [each.get("min", 0), each.get("max", 0), pool.get("min", 0)]
        if coerce.is_whole(pool_most) and all(map(coerce.is_whole, numbers)):
            least, most = sizes_of(each, pool)
            findings.append(sizes(argument=here, least=least, most=most, pool_most=int(pool_most)))
            mosts.append(most)
    findings.append(distinct(argument="schedule", values=moments))
    return [*findings, comes_back(argument="schedule", mosts=mosts)]
