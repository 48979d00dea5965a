"""Rules on the tags that every resource of Azure carries."""

from collections.abc import Mapping
from datetime import date

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import not_expired, tag_expiry

MOST = 50
MOST_ON_DNS = 15
"""Tags of a private DNS zone and of its links."""
_REFUSED = "<>%&\\?/"
_RESERVED = ("microsoft", "azure", "windows")


@rule("azure-tag-key", Severity.ERROR)
def tag_key(*, key: str) -> Outcome:
    """The key of a tag is legal in Azure: 1 to 128 characters without < > % & \\ ? /, and no prefix of Microsoft's.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations: 512
    characters, and 128 on storage accounts; the prefixes microsoft, azure and windows are reserved.
    """
    if not 1 <= len(key) <= 128:
        return failed("tags", key, "is not 1 to 128 characters long", "use a shorter key" if key else "give it a key")
    if key.lower().startswith(_RESERVED):
        return failed("tags", key, "begins with a word that Azure keeps for itself", "use another prefix")
    wrong = [each for each in _REFUSED if each in key]
    if wrong:
        return failed("tags", key, f"has {join_words(wrong, 'and')}, which Azure rejects", "use other characters")
    return passed()


@rule("azure-tag-value", Severity.ERROR)
def tag_value(*, key: str, value: str) -> Outcome:
    """The value of a tag has at most 256 characters.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations
    """
    if len(value) <= 256:
        return passed()
    return failed(f"tags.{key}", value, f"is {len(value)} characters long", "use at most 256")


@rule("azure-tag-number", Severity.ERROR)
def tag_number(*, number: int, most: int) -> Outcome:
    """A resource has at most 50 tags, and a private DNS zone 15; `most` is the limit that holds.

    Source: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations
    """
    if number <= most:
        return passed()
    return failed("tags", number, "is more tags than the resources may carry", f"use at most {most}")


def validate_azure_tags(tags: Mapping[str, object], most: int = MOST, today: date | None = None) -> list[Finding]:
    """Every finding on a set of tags. Values that are not plain are not checked. today: by default the clock's."""
    findings = [tag_number(number=len(tags), most=most), *(tag_key(key=key) for key in tags)]
    findings += [tag_value(key=key, value=value) for key, value in tags.items() if isinstance(value, str)]
    expiry = tags.get("expires-at")
    if not isinstance(expiry, str):
        return findings
    day = (today or date.today()).isoformat()
    return [*findings, tag_expiry(value=expiry, today=day), not_expired(value=expiry, today=day)]
