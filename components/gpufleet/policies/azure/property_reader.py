"""Reads the properties of an Azure resource for checks, and records which of them are not known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpufleet.plan import UNKNOWN, Resource
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import blocks, get_path
from gpufleet.rules.coerce import is_whole
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding
from gpufleet.rules.unknown_values import plan_known

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass
class PropertyReader:
    """Properties of a resource, or of a part of it, and the findings on them.

    Every reader returns None for a value that is not known before deployment, and records it, for `resource_findings`.
    A value of a wrong kind reads as the default; the provider itself rejects it.
    prefix: what findings' arguments begin with, for a part such as one agent pool of a cluster.
    """

    graph: AzureGraph
    resource: Resource
    props: Mapping[str, object]
    prefix: str = ""
    findings: list[Finding] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)

    def text(self, *path: str, default: str = "") -> str | None:
        """The text at a path."""
        value = self._value(*path)
        return None if value is UNKNOWN else value if isinstance(value, str) else default

    def whole(self, *path: str, default: int = 0) -> int | None:
        """The whole number at a path."""
        value = self._value(*path)
        return None if value is UNKNOWN else int(value) if is_whole(value) else default

    def flag(self, *path: str, default: bool = False) -> bool | None:
        """The switch at a path."""
        value = self._value(*path)
        return None if value is UNKNOWN else value if isinstance(value, bool) else default

    def blocks(self, *path: str) -> list[Mapping[str, object]] | None:
        """The objects of the list at a path."""
        value = self._value(*path)
        return None if value is UNKNOWN else blocks(value)

    def has(self, *path: str) -> bool | None:
        """Whether anything is given at a path, be its value known or not; None if what it lies in is not known."""
        if len(path) > 1 and self._value(*path[:-1]) is UNKNOWN:
            return None
        return get_path(self.props, *path) is not None

    def add(self, *findings: Finding) -> None:
        """Findings on this resource."""
        self.findings += [self._placed(each) for each in findings]

    def resource_findings(self) -> list[ResourceFinding]:
        """Every finding, each once, and what could not be read."""
        if self.unknown:
            self.add(plan_known(arguments=sorted(self.unknown)))
        seen = {(each.rule, each.line("")): each for each in self.findings}
        return [ResourceFinding(self.resource.name, finding, self.resource.urn) for finding in seen.values()]

    def _value(self, *path: str) -> object:
        value = get_path(self.props, *path)
        if value is UNKNOWN:
            self.unknown.add(snake(path[-1]))
        return value

    def _placed(self, finding: Finding) -> Finding:
        return replace(finding, argument=f"{self.prefix}{finding.argument}") if finding.argument else finding


def snake(name: str) -> str:
    """A property under its name in Python: taskSlotsPerNode is task_slots_per_node."""
    return _HUMP.sub("_", name).lower()
