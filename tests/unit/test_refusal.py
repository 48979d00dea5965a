"""From findings to Pulumi's errors and log lines."""

import pulumi
import pytest
from pulumi.errors import InputPropertiesError, RunError

from gpufleet.refusal import Refused, refuse_or_warn
from gpufleet.rules import Finding, Severity, Status


def finding(severity, status, argument="zones"):
    return Finding("any-x-y", severity, status, argument, ["a"], "is wrong", "use b")


@pytest.fixture
def logged(monkeypatch):
    lines = []
    monkeypatch.setattr(pulumi.log, "warn", lambda line, resource: lines.append(("warn", line, resource)))
    monkeypatch.setattr(pulumi.log, "info", lambda line, resource: lines.append(("info", line, resource)))
    return lines


def test_all_errors_come_at_once_as_text_and_as_properties(logged):
    broken = [finding(Severity.ERROR, Status.FAIL), finding(Severity.ERROR, Status.FAIL, "types")]
    with pytest.raises(Refused) as refusal:
        refuse_or_warn("trainers", [finding(Severity.ERROR, Status.PASS), *broken])
    lines = [
        "trainers: zones=[a]: is wrong; use b [any-x-y]",
        "trainers: types=[a]: is wrong; use b [any-x-y]",
    ]
    assert str(refusal.value) == "\n".join(lines)
    assert refusal.value.errors == [
        {"property_path": "zones", "reason": lines[0]},
        {"property_path": "types", "reason": lines[1]},
    ]
    assert refusal.value.findings == tuple(broken)
    assert logged == []


def test_pulumi_shows_a_refusal_without_a_traceback_and_other_languages_get_properties():
    assert issubclass(Refused, RunError)
    assert issubclass(Refused, InputPropertiesError)


@pytest.mark.parametrize(
    ("severity", "status", "level"),
    [
        (Severity.WARNING, Status.FAIL, "warn"),
        (Severity.INFO, Status.FAIL, "info"),
        (Severity.ERROR, Status.UNVERIFIED, "warn"),
        (Severity.INFO, Status.UNVERIFIED, "warn"),
    ],
)
def test_the_rest_is_logged(logged, severity, status, level):
    each = finding(severity, status)
    refuse_or_warn("trainers", [each])
    assert logged == [(level, each.line("trainers"), None)]


def test_warnings_are_logged_beside_errors(logged):
    with pytest.raises(Refused):
        refuse_or_warn("trainers", [finding(Severity.ERROR, Status.FAIL), finding(Severity.WARNING, Status.FAIL)])
    assert [level for level, _, _ in logged] == ["warn"]


def test_passes_say_nothing(logged):
    refuse_or_warn("trainers", [finding(Severity.ERROR, Status.PASS)])
    assert logged == []
