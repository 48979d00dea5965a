"""From findings to Pulumi's errors and log lines."""

import json
from dataclasses import replace
from datetime import date

import pulumi
import pytest
from pulumi.errors import InputPropertiesError, RunError

from gpufleet.rules import Finding, Severity, Status
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.validation import InvalidArguments, argument_spelling, validate, validate_stack


def finding(severity, status, argument="zones"):
    return Finding("any-x-y", severity, status, argument, ["a"], "is wrong", "use b")


@pytest.fixture
def logged(monkeypatch):
    lines = []
    monkeypatch.setattr(pulumi.log, "warn", lambda line: lines.append(("warn", line)))
    monkeypatch.setattr(pulumi.log, "info", lambda line: lines.append(("info", line)))
    return lines


def test_all_errors_come_at_once_as_text_and_as_properties(logged):
    broken = [finding(Severity.ERROR, Status.FAIL), finding(Severity.ERROR, Status.FAIL, "types")]
    with pytest.raises(InvalidArguments) as refusal:
        validate("trainers", [finding(Severity.ERROR, Status.PASS), *broken])
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
    assert issubclass(InvalidArguments, RunError)
    assert issubclass(InvalidArguments, InputPropertiesError)


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
    validate("trainers", [each])
    assert logged == [(level, each.line("trainers"))]


def test_warnings_are_logged_beside_errors(logged):
    with pytest.raises(InvalidArguments):
        validate("trainers", [finding(Severity.ERROR, Status.FAIL), finding(Severity.WARNING, Status.FAIL)])
    assert [level for level, _ in logged] == ["warn"]


def test_passes_say_nothing(logged):
    validate("trainers", [finding(Severity.ERROR, Status.PASS)])
    assert logged == []


IN_A_YEAR = date.today().replace(month=1, day=1, year=date.today().year + 1).isoformat()


@pytest.fixture
def suppress(monkeypatch):
    """Puts a value under gpufleet:suppress of the stack's configuration."""

    def put(value):
        monkeypatch.setenv("PULUMI_CONFIG", json.dumps({"gpufleet:suppress": value}))

    return put


def entry(rule="aws-type-in-zone", **more):
    return {"rule": rule, "reason": "new there", "expires": IN_A_YEAR} | more


def broken(rule="aws-type-in-zone", severity=Severity.ERROR, status=Status.FAIL):
    return Finding(rule, severity, status, "zones", ["a"], "is wrong", "use b")


@pytest.mark.parametrize("status", [Status.FAIL, Status.UNVERIFIED])
@pytest.mark.parametrize("severity", Severity)
def test_a_suppressed_finding_is_information_with_reason_and_date(logged, suppress, severity, status):
    suppress(json.dumps([entry()]))
    each = broken(severity=severity, status=status)
    validate("trainers", [each])
    line = f"{each.line('trainers')} (suppressed until {IN_A_YEAR}: new there)"
    assert logged == [("info", line)]


def test_only_what_is_covered_is_suppressed(logged, suppress):
    suppress(json.dumps([entry(resource="aws-dev-*")]))
    with pytest.raises(InvalidArguments) as refusal:
        validate("trainers", [broken()])
    assert str(refusal.value) == "trainers: zones=[a]: is wrong; use b [aws-type-in-zone]"
    with pytest.raises(InvalidArguments) as refusal:
        validate("aws-dev-trainers", [broken(), broken("aws-type-in-region")])
    assert str(refusal.value) == "aws-dev-trainers: zones=[a]: is wrong; use b [aws-type-in-region]"
    assert [level for level, _ in logged] == ["info"]


@pytest.mark.parametrize("rule", ["any-argument-given", "any-argument-kind", "aws-type-known", "aws-zone-known"])
def test_what_a_component_is_built_on_cannot_be_suppressed(logged, suppress, rule):
    suppress(json.dumps([entry(rule)]))
    with pytest.raises(InvalidArguments):
        validate("trainers", [broken(rule)])


def test_bad_suppressions_are_one_error_with_all_lines(logged, suppress):
    suppress(json.dumps([entry("aws-type-in-zones"), entry(expires="2020-01-01", reason="")]))
    with pytest.raises(RunError) as error:
        validate("trainers", [broken()])
    assert str(error.value).splitlines() == [
        "gpufleet:suppress[0].rule=aws-type-in-zones: unknown rule; did you mean aws-type-in-zone? "
        "[config-suppression]",
        "gpufleet:suppress[1].reason='': says nothing; say why the rule does not matter here [config-suppression]",
        "gpufleet:suppress[1].expires=2020-01-01: has passed; fix what the rule reports, or give a later "
        "date [config-suppression]",
    ]


@pytest.mark.parametrize("value", ["aws-type-in-zone", "7", "{}", "[", '"x"'])
def test_suppressions_that_are_no_list_are_one_line(logged, suppress, value):
    suppress(value)
    with pytest.raises(RunError) as error:
        validate("trainers", [])
    assert str(error.value) == (
        "gpufleet:suppress: must be a list; write [{rule: ..., reason: ..., expires: 2027-01-31}] [config-suppression]"
    )


def test_a_stack_is_refused_with_the_lines_of_all_its_parts(logged, suppress):
    suppress(json.dumps([entry("any-pool-same-gpu")]))
    warning, short = broken(severity=Severity.WARNING), broken("any-quota-enough", status=Status.UNVERIFIED)
    covered = broken("any-pool-same-gpu")
    parts = {
        "dev-a": [broken(), warning],
        "dev-b": [broken("aws-type-in-region"), covered],
        "dev": [broken("any-quota-enough"), short],
    }
    with pytest.raises(RunError) as error:
        validate_stack(ResourceFinding(part, each) for part, findings in parts.items() for each in findings)
    assert not isinstance(error.value, InvalidArguments)
    assert str(error.value).splitlines() == [
        "dev-a: zones=[a]: is wrong; use b [aws-type-in-zone]",
        "dev-b: zones=[a]: is wrong; use b [aws-type-in-region]",
        "dev: zones=[a]: is wrong; use b [any-quota-enough]",
    ]
    assert logged == [
        ("warn", warning.line("dev-a")),
        ("info", f"{covered.line('dev-b')} (suppressed until {IN_A_YEAR}: new there)"),
        ("warn", short.line("dev")),
    ]


def test_a_stack_without_faults_goes_on(logged, suppress):
    suppress(json.dumps([entry()]))
    validate_stack([ResourceFinding("dev-a", broken()), ResourceFinding("dev", broken(status=Status.PASS))])
    assert logged == [
        ("info", f"dev-a: zones=[a]: is wrong; use b [aws-type-in-zone] (suppressed until {IN_A_YEAR}: new there)")
    ]


def test_other_languages_have_other_names(logged):
    said = [broken(), broken(severity=Severity.WARNING)]
    with pytest.raises(InvalidArguments) as refusal, argument_spelling(lambda each: replace(each, argument="zoneIds")):
        validate("trainers", said)
    assert refusal.value.errors[0]["property_path"] == "zoneIds"
    assert logged == [("warn", "trainers: zoneIds=[a]: is wrong; use b [aws-type-in-zone]")]
    with pytest.raises(InvalidArguments, match=r"^trainers: zones="):
        validate("trainers", said)
