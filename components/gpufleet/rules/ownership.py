"""Rules on who answers for what costs money, and until when."""

from collections.abc import Collection, Sequence
from datetime import date

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified


@rule("any-owner-tags", Severity.ERROR)
def owner_tags(*, tags: Collection[str] | None, required: Sequence[str]) -> Outcome:
    """Billed resources carry the tags for their owner, purpose and expiry.

    tags: keys, those that the provider adds too; None where they are not known.

    Source: https://docs.aws.amazon.com/whitepapers/latest/tagging-best-practices/tagging-best-practices.html; the bill
    and `gpufleet adopt` find things by their tags.
    """
    if tags is None:
        return unverified("tags", "unknown", "which tags it has is not known", "give the keys as plain text")
    missing = [key for key in required if key not in tags]
    if not missing:
        return passed()
    problem = f"{join_words(missing, 'and')} {'is' if len(missing) == 1 else 'are'} missing"
    return failed("tags", sorted(tags), problem, f"add {'it' if len(missing) == 1 else 'them'}")


@rule("any-owner-expiry", Severity.ERROR)
def not_expired(*, key: str, value: str, today: date) -> Outcome:
    """The expiry date of a stack has not passed; a value that is not a date is reported by another rule.

    Source: the tag says that nobody needs it any more; a forgotten cluster's bill (skypilot-org/skypilot#3953).
    """
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return passed()
    if day >= today:
        return passed()
    return failed(f"tags.{key}", value, "this day has passed", "destroy what nobody needs, or give a later day")


@rule("any-owner-temporary", Severity.WARNING)
def temporary(*, key: str, value: str, environment: str) -> Outcome:
    """A development environment has an expiry date.

    Source: our choice; a forgotten cluster's bill (skypilot-org/skypilot#3953).
    """
    if value != "never":
        return passed()
    return failed(
        f"tags.{key}", value, f"{environment} is for development and never ends", "give a day like 2027-01-31"
    )
