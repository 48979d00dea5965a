"""Findings and the resource of a plan that they are about."""

from collections.abc import Iterable

from gpufleet.plan import Resource
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding


def on(resource: Resource, findings: Iterable[Finding]) -> list[ResourceFinding]:
    """These findings, on this resource."""
    return [ResourceFinding(resource.name, finding, resource.urn) for finding in findings]
