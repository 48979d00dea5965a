"""What the resources of an environment say of its end, which may be more than one thing."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from gpufleet.fleet.expires_at import Expiry, expiry_of
from gpufleet.fleet.ownership_tags import OwnershipTags, TaggedResource
from gpufleet.policies.ownership import EXPIRY
from gpufleet.rules.messages import one_line, plural

NEVER = "never"
_SHOWN = 3


@dataclass(frozen=True)
class EndTags:
    """The tags `expires-at` of an environment.

    latest: the last end that one of them names; None: none does. days: number of different ends. doubt: why the
    environment does not certainly end then, empty where it does. unreadable: whether one of them is neither a day, nor
    a lifetime, nor `never`.
    """

    latest: Expiry | None = None
    days: int = 0
    doubt: str = ""
    unreadable: bool = False

    @staticmethod
    def of_tags(tags: OwnershipTags, began: datetime | None) -> "EndTags":
        """began: when the environment was created, from which a lifetime counts.

        The end is certain where every resource that says one names an end, and most of those with the mark say one.
        """
        said = Counter(filter(None, map(_said, tags.resources)))
        ends = {text: expiry_of(text, began) for text in said}
        unreadable = sorted(text for text, end in ends.items() if end is None and text != NEVER)
        named = {end for end in ends.values() if end}
        doubts = [text for text in (NEVER, *unreadable[:_SHOWN]) if text in said]
        naming = sum(1 for each in tags.marked if ends.get(_said(each)))
        doubt = ""
        if named or unreadable:
            if doubts:
                doubt = ", ".join(f"{EXPIRY}={text} on {said[text]}" for text in doubts)
                doubt += f" of {plural(len(tags.resources), 'resource')}"
            elif tags.marked and 2 * naming <= len(tags.marked):
                doubt = f"{EXPIRY} is on {naming} of {plural(len(tags.marked), 'resource')} with the mark"
        return EndTags(max(named, default=None), len(named), doubt, bool(unreadable))


def _said(resource: TaggedResource) -> str:
    """The value of a resource's tag as one line, empty where it has no such tag."""
    if EXPIRY not in resource.tags:
        return ""
    value = resource.tags[EXPIRY]
    return one_line(value) if isinstance(value, str) and value else "(no text)"
