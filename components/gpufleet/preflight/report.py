"""What a preflight found, as lines, as JSON and as an exit code."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Severity, Status
from gpufleet.rules.suppression import Suppression

OK, REJECTED = 0, 1


@dataclass(frozen=True)
class PreflightReport:
    """findings: passes included. reasons: why something could not be asked. account: what was asked, in words."""

    environment: str
    account: str
    findings: Sequence[ResourceFinding]
    reasons: Sequence[str]
    suppressions: Sequence[Suppression]

    def code(self, strict: bool) -> int:
        """1 if the cloud is going to reject the plan, and with `strict` also if something could not be verified."""
        rejected = any(each.rejects for each in self.findings)
        return REJECTED if rejected or (strict and self._open) else OK

    @property
    def _open(self) -> bool:
        return any(
            each.finding.status is Status.UNVERIFIED and each.suppression is None for each in self.findings
        ) or bool(self.reasons)

    def lines(self) -> Iterator[str]:
        """What a person reads: what is not known and why, every finding but those that passed, suppressions, sum."""
        for reason in self.reasons:
            yield f"warning: not verified: {reason}"
        for each in self.findings:
            if each.finding.status is not Status.PASS:
                yield f"{_word(each)}: {each.line}"
        for suppression in self._idle():
            yield (
                f"note: suppression of {suppression.rule} on {suppression.resource} covers nothing here "
                f"({suppression.text})"
            )
        yield f"{self.environment}, {self.account}: {self._sum()}"

    def as_json(self, strict: bool) -> dict[str, object]:
        """The same for machines. Frozen: scripts outlive releases."""
        return {
            "environment": self.environment,
            "account": self.account,
            "code": self.code(strict),
            "notVerifiedBecause": list(self.reasons),
            "findings": [_as_json(each) for each in self.findings],
            "suppressions": [
                {
                    "rule": each.rule,
                    "resource": each.resource,
                    "reason": each.reason,
                    "expires": each.expires.isoformat(),
                    "used": each in {found.suppression for found in self.findings},
                }
                for each in self.suppressions
            ],
        }

    def _idle(self) -> list[Suppression]:
        used = {each.suppression for each in self.findings}
        asked = {each.finding.rule for each in self.findings}
        # Other entry points have their own rules: only for rules checked here is it known that nothing is covered.
        return [each for each in self.suppressions if each.rule in asked and each not in used]

    def _sum(self) -> str:
        kinds: Mapping[str, int] = {
            "passed": sum(each.finding.status is Status.PASS for each in self.findings),
            "rejected": sum(each.rejects for each in self.findings),
            "advised": sum(
                each.finding.status is Status.FAIL and not each.rejects and each.suppression is None
                for each in self.findings
            ),
            "not verified": sum(
                each.finding.status is Status.UNVERIFIED and each.suppression is None for each in self.findings
            ),
            "suppressed": sum(each.suppression is not None for each in self.findings),
        }
        if not self.findings:
            return "no GPU pools and no new networks to check"
        return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count or kind == "passed")


def _word(found: ResourceFinding) -> str:
    if found.suppression is not None:
        return "suppressed"
    if found.rejects:
        return "error"
    advice = found.finding.severity is Severity.INFO and found.finding.status is Status.FAIL
    return "note" if advice else "warning"


def _as_json(found: ResourceFinding) -> dict[str, object]:
    finding = found.finding
    return {
        "resource": found.resource,
        "urn": found.urn,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "status": finding.status.value,
        "argument": finding.argument,
        "value": finding.value,
        "problem": finding.problem,
        "fix": finding.fix,
        "line": found.line,
        "suppressed": found.suppression is not None,
    }
