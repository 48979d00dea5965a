"""One line of a readiness check."""

from dataclasses import dataclass

from gpufleet.rules.rule import Status


@dataclass(frozen=True)
class CheckResult:
    """subject: what was looked at. text: what was found. fix: how to mend it, or how to find out; empty on a pass."""

    subject: str
    status: Status
    text: str
    fix: str = ""

    @property
    def line(self) -> str:
        return f"{self.status.value:<10}  {self.subject}: {self.text}" + (f"; {self.fix}" if self.fix else "")

    def as_json(self) -> dict[str, str]:
        """The keys do not change: scripts depend on them."""
        return {"subject": self.subject, "status": self.status.value, "text": self.text, "fix": self.fix}


def passed_check(subject: str, text: str) -> CheckResult:
    return CheckResult(subject, Status.PASS, text)


def failed_check(subject: str, text: str, fix: str) -> CheckResult:
    return CheckResult(subject, Status.FAIL, text, fix)


def unknown_check(subject: str, text: str, fix: str) -> CheckResult:
    return CheckResult(subject, Status.UNVERIFIED, text, fix)
