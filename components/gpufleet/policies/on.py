"""Findings and the resource of a plan that they are about."""

from collections.abc import Iterable

from gpufleet.plan import Resource
from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Finding


def on(resource: Resource, findings: Iterable[Finding]) -> list[Judged]:
    """These findings, on this resource."""
    return [Judged(resource.name, finding, resource.urn) for finding in findings]
