"""Findings, and what makes a rule of a function."""

import pytest

from gpufleet.rules import rule as module
from gpufleet.rules.rule import Finding, Severity, Status, failed, passed, rule, unverified


@rule("any-example-even", Severity.WARNING)
def even(*, number: int | None):
    """A number is even.

    Source: arithmetic.
    """
    if number is None:
        return unverified("number", number, "is not known yet", "wait for it")
    return passed() if number % 2 == 0 else failed("number", number, "is odd", "add 1")


def test_rule_knows_what_it_says_and_why():
    assert (even.name, even.severity, even.sentence, even.source) == (
        "any-example-even",
        Severity.WARNING,
        "A number is even.",
        "arithmetic.",
    )
    assert even.anchor == "docs/rules.md#any-example-even"


def test_finding_of_a_failure_has_every_field():
    finding = even(number=3)
    assert finding == Finding(
        rule="any-example-even",
        severity=Severity.WARNING,
        status=Status.FAIL,
        argument="number",
        value=3,
        problem="is odd",
        fix="add 1",
    )
    assert finding.line("box") == "box: number=3: is odd; add 1 [any-example-even]"


def test_finding_of_a_pass_is_empty():
    finding = even(number=2)
    assert (finding.status, finding.argument, finding.value, finding.problem, finding.fix) == ("pass", "", None, "", "")
    assert finding.line("box") == "box: ok [any-example-even]"


def test_unverified_is_said_in_the_line():
    line = even(number=None).line("box")
    assert line == "box: number=null: not verified: is not known yet; wait for it [any-example-even]"


@pytest.mark.parametrize(
    ("severity", "status", "refuses"),
    [
        (Severity.ERROR, Status.FAIL, True),
        (Severity.ERROR, Status.UNVERIFIED, False),
        (Severity.ERROR, Status.PASS, False),
        (Severity.WARNING, Status.FAIL, False),
        (Severity.INFO, Status.FAIL, False),
    ],
)
def test_only_a_broken_error_rule_refuses(severity, status, refuses):
    assert Finding("any-x-y", severity, status, "a", 1, "p", "f").rejects is refuses


def test_two_rules_of_one_name_are_an_error(monkeypatch):
    twin = rule("any-placement-one-zone", Severity.ERROR)(even.check)
    monkeypatch.setattr("gpufleet.rules.efa.twin", twin, raising=False)
    module.all_rules.cache_clear()
    try:
        with pytest.raises(ValueError, match="two rules are called any-placement-one-zone"):
            module.all_rules()
    finally:
        module.all_rules.cache_clear()
