"""What a preflight says, and its exit code."""

from datetime import date

import pytest

from gpufleet.preflight.report import PreflightReport
from gpufleet.rules import Finding, Severity, Status
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.suppression import Suppression

RULE = "aws-type-in-zone"
ALLOWED = Suppression(RULE, "new there", date(2027, 1, 31))


def resource_finding(severity=Severity.ERROR, status=Status.FAIL, suppression=None):
    return ResourceFinding(
        "a", Finding(RULE, severity, status, "zones", ["z"], "is wrong", "use b"), "urn:a", suppression
    )


def report(*findings, reasons=(), suppressions=()):
    return PreflightReport("dev", "live account", findings, reasons, suppressions)


PASS = resource_finding(status=Status.PASS)
OPEN = resource_finding(status=Status.UNVERIFIED)
COVERED = resource_finding(suppression=ALLOWED)
COVERED_DOUBT = resource_finding(status=Status.UNVERIFIED, suppression=ALLOWED)


@pytest.mark.parametrize(
    ("given", "plain", "strict"),
    [
        (report(), 0, 0),
        (report(PASS), 0, 0),
        (report(PASS, resource_finding()), 1, 1),
        (report(resource_finding(Severity.WARNING)), 0, 0),
        (report(OPEN), 0, 1),
        (report(PASS, reasons=("denied",)), 0, 1),
        (report(COVERED), 0, 0),
        (report(COVERED_DOUBT), 0, 0),
    ],
)
def test_exit_codes(given, plain, strict):
    assert (given.code(strict=False), given.code(strict=True)) == (plain, strict)
    assert given.as_json(strict=True)["code"] == strict


def test_lines():
    idle = Suppression(RULE, "other", date(2027, 1, 31), "b")
    of_another_door = Suppression("any-tag-expiry", "x", date(2027, 1, 31))
    findings = (
        PASS,
        resource_finding(),
        resource_finding(Severity.WARNING),
        resource_finding(Severity.INFO),
        OPEN,
        COVERED,
    )
    given = report(*findings, reasons=("ec2: denied",), suppressions=(ALLOWED, idle, of_another_door))
    assert list(given.lines()) == [
        "warning: not verified: ec2: denied",
        "error: a: zones=[z]: is wrong; use b [aws-type-in-zone]",
        "warning: a: zones=[z]: is wrong; use b [aws-type-in-zone]",
        "note: a: zones=[z]: is wrong; use b [aws-type-in-zone]",
        "warning: a: zones=[z]: not verified: is wrong; use b [aws-type-in-zone]",
        "suppressed: a: zones=[z]: is wrong; use b [aws-type-in-zone] (suppressed until 2027-01-31: new there)",
        "note: suppression of aws-type-in-zone on b covers nothing here (suppressed until 2027-01-31: other)",
        "dev, live account: 1 passed, 1 rejected, 2 advised, 1 not verified, 1 suppressed",
    ]


def test_nothing_to_judge_is_said():
    assert list(report().lines()) == ["dev, live account: no GPU pools and no new networks to check"]


def test_json_holds_every_finding_and_every_suppression():
    found = report(PASS, COVERED, reasons=("denied",), suppressions=(ALLOWED,)).as_json(strict=False)
    assert found == {
        "environment": "dev",
        "account": "live account",
        "code": 0,
        "notVerifiedBecause": ["denied"],
        "findings": [
            {
                "resource": "a",
                "urn": "urn:a",
                "rule": RULE,
                "severity": "error",
                "status": status,
                "argument": "zones",
                "value": ["z"],
                "problem": "is wrong",
                "fix": "use b",
                "line": line,
                "suppressed": suppressed,
            }
            for status, line, suppressed in (("pass", PASS.line, False), ("fail", COVERED.line, True))
        ],
        "suppressions": [{"rule": RULE, "resource": "*", "reason": "new there", "expires": "2027-01-31", "used": True}],
    }
