"""Rules on the tags that every resource carries."""

import re
from collections.abc import Mapping
from datetime import date

from gpufleet.durations import parse_duration
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

# Letters, digits, spaces and _ . : / = + - @, in any script: \w covers letters, digits and the underscore.
_LEGAL = re.compile(r"[\w .:/=+\-@]*")
_MOST = 49


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
def tag_expiry(*, value: str) -> Outcome:
    """The tag expires-at is a date, a lifetime such as 150h, or never.

    Source: ISO 8601 calendar date; every stack of this project carries the tag.
    """
    if value == "never" or is_day(value) or parse_duration(value):
        return passed()
    return failed("tags.expires-at", value, "is not a date", "write it as 2027-01-31, 150h or never")


@rule("any-tag-expired", Severity.WARNING)
def not_expired(*, value: str, today: str) -> Outcome:
    """The day of the tag expires-at has not passed; both days as 2027-01-31.

    A warning where resources are made, because what has expired must still be brought down.

    Source: every stack of this project carries the tag; forgotten GPU nodes cost a team 969 USD in 400 hours
    (Open-Athena/marin-dna#564).
    """
    if not is_day(value) or value >= today:
        return passed()
    fix = "bring the environment down, or give a later day to whoever still needs it"
    return failed("tags.expires-at", value, "has passed", fix)


def is_day(value: str) -> bool:
    """Whether a text is a day as 2027-01-31; the standard knows shorter ways to write it."""
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False


def validate_tags(tags: Mapping[str, object], today: date | None = None) -> list[Finding]:
    """Every finding on a set of tags. Values that are not plain are not checked. today: by default the clock's."""
    findings = [tag_number(number=len(tags)), *(tag_key(key=key) for key in tags)]
    findings += [tag_value(key=key, value=value) for key, value in tags.items() if isinstance(value, str)]
    expiry = tags.get("expires-at")
    if not isinstance(expiry, str):
        return findings
    day = (today or date.today()).isoformat()
    return [*findings, tag_expiry(value=expiry), not_expired(value=expiry, today=day)]
