"""From findings to what Pulumi shows: one error with every line, or warnings."""

from collections.abc import Iterable

import pulumi
from pulumi.errors import InputPropertiesError, InputPropertyErrorDetails, RunError

from gpufleet.rules.rule import Finding, Severity, Status


class Refused(RunError, InputPropertiesError):
    """Illegal arguments of one resource, all at once.

    A RunError, so that a Pulumi program ends with the lines and without a traceback; an InputPropertiesError, so that
    callers in other languages get path and reason. The lines are in the text because an InputPropertiesError, as text,
    is only its headline.
    """

    def __init__(self, resource: str, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        lines = [finding.line(resource) for finding in self.findings]
        details: list[InputPropertyErrorDetails] = [
            {"property_path": finding.argument, "reason": line}
            for finding, line in zip(self.findings, lines, strict=True)
        ]
        InputPropertiesError.__init__(self, "\n".join(lines), details)


def refuse_or_warn(resource: str, findings: Iterable[Finding], opts_resource: pulumi.Resource | None = None) -> None:
    """Raise `Refused` with all broken ERROR rules, or log the rest.

    `resource` is the logical name that messages begin with; `opts_resource` is what the engine attaches the log lines
    to. Broken WARNING rules and everything unverified are logged as warnings, broken INFO rules as information.
    """
    findings = [finding for finding in findings if finding.status is not Status.PASS]
    refusing = [finding for finding in findings if finding.refuses]
    for finding in findings:
        if finding.refuses:
            continue
        advice = finding.severity is Severity.INFO and finding.status is Status.FAIL
        log = pulumi.log.info if advice else pulumi.log.warn
        log(finding.line(resource), opts_resource)
    if refusing:
        raise Refused(resource, refusing)
