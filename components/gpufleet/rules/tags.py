"""Rules on the tags that every resource carries."""

from collections.abc import Mapping

from gpufleet.rules.rule import Finding


def judge_tags(tags: Mapping[str, object]) -> list[Finding]:
    """Every finding on a set of tags."""
    return []
