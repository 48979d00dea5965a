"""Validation of the autoscaler's permissions on AWS."""

from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.rule import Finding
from gpufleet.rules.tags import validate_tags


def validate_autoscaler_identity(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the autoscaler's permissions. Reads region, tags."""
    return [validate_region(coerce.text(args, "region")), *validate_tags(coerce.mapping(args, "tags"))]
