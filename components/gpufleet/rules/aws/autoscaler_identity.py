"""The door for the autoscaler's rights on AWS."""

from collections.abc import Mapping

from gpufleet.rules import read
from gpufleet.rules.aws.zones import judge_region
from gpufleet.rules.rule import Finding
from gpufleet.rules.tags import judge_tags


def judge_autoscaler_identity(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the autoscaler's rights. Reads region, tags."""
    return [judge_region(read.text(args, "region")), *judge_tags(read.mapping(args, "tags"))]
