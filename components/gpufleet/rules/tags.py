"""Rules on the tags that every resource carries."""

import re
from collections.abc import Mapping
from datetime import date, timedelta

from gpufleet.durations import parse_duration
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

# Letters, digits, spaces and _ . : / = + - @, in any script: \w covers letters, digits and the underscore.
_LEGAL = re.compile(r"[\w .:/=+\-@]*")
_MOST = 49
MOST_YEARS = 5


@rule("aws-tag-key", Severity.ERROR)
def tag_key(*, key: str) -> Outcome:
    """The key of a tag is legal in AWS: 1 to 128 letters, digits, spaces and _ . : / = + - @, not beginning with aws:.

    Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html; TagKey of botocore's
    model of efs.
    """
    if not 1 <= len(key) <= 128:
        return failed("tags", key, "is not 1 to 128 characters long", "use a shorter key" if key else "give it a key")
    if key.lower().startswith("aws:"):
        return failed("tags", key, "begins with aws:, which AWS keeps for itself", "use another prefix")
    if not _LEGAL.fullmatch(key):
        return failed("tags", key, "has characters that AWS rejects", "use letters, digits, spaces and _ . : / = + - @")
    return passed()


@rule("aws-tag-value", Severity.ERROR)
def tag_value(*, key: str, value: str) -> Outcome:
    """The value of a tag is legal in AWS: at most 256 letters, digits, spaces and _ . : / = + - @.

    Source: https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html; TagValue of
    botocore's model of efs.
    """
    argument = f"tags.{key}"
    if len(value) > 256:
        return failed(argument, value, f"is {len(value)} characters long", "use at most 256")
    if not _LEGAL.fullmatch(value):
        fix = "use letters, digits, spaces and _ . : / = + - @"
        return failed(argument, value, "has characters that AWS rejects", fix)
    return passed()


@rule("aws-tag-number", Severity.ERROR)
def tag_number(*, number: int) -> Outcome:
    """There are at most 49 tags, because each resource gets one more, its name.

    Source: https://docs.aws.amazon.com/general/latest/gr/aws_tagging.html: 50 tags per resource.
    """
    if number <= _MOST:
        return passed()
    return failed("tags", number, "is more tags than a resource may carry beside its name", f"use at most {_MOST}")


@rule("any-tag-expiry", Severity.ERROR)
def tag_expiry(*, value: str, today: str) -> Outcome:
    """The tag expires-at is a date or a lifetime such as 150h, of at most five years, or never.

    today: as 2027-01-31. What continues for longer has no end: 9999-12-31 is a `never` in disguise.

    Source: ISO 8601 calendar date; every stack of this project carries the tag. Five years are our choice: no cloud
    sells capacity for longer (https://learn.microsoft.com/dotnet/api/azure.resourcemanager.reservations.models.reservationterm:
    P1Y, P3Y, P5Y; https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_SavingsPlans.html: 1 or 3).
    """
    if value != "never" and not is_day(value) and not parse_duration(value):
        return failed("tags.expires-at", value, "is not a date", "write it as 2027-01-31, 150h or never")
    if is_too_late(value, date.fromisoformat(today)):
        fix = f"write a day until {latest_day(date.fromisoformat(today))}, or never"
        return failed("tags.expires-at", value, f"is more than {MOST_YEARS} years away", fix)
    return passed()


@rule("any-tag-expired", Severity.WARNING)
def not_expired(*, value: str, today: str) -> Outcome:
    """The day of the tag expires-at has not passed; both days as 2027-01-31.

    A warning where resources are made, because what has expired must still be brought down.

    Source: every stack of this project carries the tag; forgotten GPU nodes cost a team 969 USD in 400 hours
    (Open-Athena/marin-dna#564).
    """
    if not is_day(value) or value >= today:
        return passed()
    fix = "bring the environment down, or set a later day if somebody still needs it"
    return failed("tags.expires-at", value, "has passed", fix)


def is_day(value: str) -> bool:
    """Whether a text is a day as 2027-01-31; the standard knows shorter ways to write it."""
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def is_too_late(value: str, today: date) -> bool:
    """Whether a day or a lifetime ends later than any environment that has an end."""
    latest = latest_day(today)
    if span := parse_duration(value):
        return span > latest - today
    return is_day(value) and date.fromisoformat(value) > latest


def latest_day(today: date) -> date:
    """The last day on which an environment may end."""
    return today + timedelta(days=MOST_YEARS * 365)


def validate_tags(tags: Mapping[str, object], today: date | None = None) -> list[Finding]:
    """Every finding on a set of tags. Values that are not plain are not checked. today: by default the clock's."""
    findings = [tag_number(number=len(tags)), *(tag_key(key=key) for key in tags)]
    findings += [tag_value(key=key, value=value) for key, value in tags.items() if isinstance(value, str)]
    expiry = tags.get("expires-at")
    if not isinstance(expiry, str):
        return findings
    day = (today or date.today()).isoformat()
    return [*findings, tag_expiry(value=expiry, today=day), not_expired(value=expiry, today=day)]
