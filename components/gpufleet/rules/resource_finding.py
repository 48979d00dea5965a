"""A finding on a resource of a plan."""

from dataclasses import dataclass

from gpufleet.rules.rule import Finding, Status
from gpufleet.rules.suppression import Suppression


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
    def refuses(self) -> bool:
        """Whether the stack may not be brought up like this."""
        return self.finding.refuses and self.suppression is None

    @property
    def line(self) -> str:
        """The one line that users see."""
        line = self.finding.line(self.resource)
        covered = self.suppression is not None and self.finding.status is not Status.PASS
        return f"{line} ({self.suppression.text})" if covered and self.suppression else line
