"""A finding on a resource of a plan."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from gpufleet.rules.rule import Finding, Status
from gpufleet.rules.suppression import Suppression


class NamedResource(Protocol):
    """A resource of a plan."""

    @property
    def urn(self) -> str:
        """Its URN."""
        ...

    @property
    def name(self) -> str:
        """Its logical name."""
        ...


@dataclass(frozen=True, slots=True)
class ResourceFinding:
    """What a rule found on one resource, and the suppression that covers it, if any.

    resource: logical name. urn: "" for the stack as a whole.
    """

    resource: str
    finding: Finding
    urn: str = ""
    suppression: Suppression | None = None

    @property
    def rejects(self) -> bool:
        """Whether the stack must not be deployed like this."""
        return self.finding.rejects and self.suppression is None

    @property
    def line(self) -> str:
        """The one line that users see."""
        line = self.finding.line(self.resource)
        covered = self.suppression is not None and self.finding.status is not Status.PASS
        return f"{line} ({self.suppression.text})" if covered and self.suppression else line


def findings_on(resource: NamedResource, findings: Iterable[Finding]) -> list[ResourceFinding]:
    """The findings, each with the resource that it is about."""
    return [ResourceFinding(resource.name, finding, resource.urn) for finding in findings]
