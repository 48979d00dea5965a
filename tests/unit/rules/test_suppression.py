"""Suppressions: what each fault is called, how long one holds, and what it covers."""

from datetime import date

import pytest

from gpufleet.rules import Finding, Severity, Status
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.suppression import Suppression, SuppressionError, read_suppressions, suppression_of

TODAY = date(2026, 11, 21)
GOOD = {"rule": "aws-type-in-zone", "reason": "the zone has it since Monday", "expires": "2027-01-31"}


def read(*entries, today=TODAY):
    return read_suppressions(list(entries), "gpufleet:suppress", today)


def without(key):
    return {name: value for name, value in GOOD.items() if name != key}


FAULTS = {
    "unknown-rule": (
        GOOD | {"rule": "aws-type-in-zones"},
        ".rule=aws-type-in-zones: unknown rule; did you mean aws-type-in-zone?",
    ),
    "no-rule-like-it": (GOOD | {"rule": "xyzzy"}, ".rule=xyzzy: unknown rule; docs/rules.md lists them"),
    "rule-missing": (
        without("rule"),
        ".rule: is missing; name the rule as it stands in brackets behind its message",
    ),
    "rule-is-a-list": (GOOD | {"rule": []}, ".rule=[]: unknown rule; docs/rules.md lists them"),
    "reason-missing": (without("reason"), ".reason: is missing; say why the rule does not matter here"),
    "reason-blank": (GOOD | {"reason": " "}, ".reason= : says nothing; say why the rule does not matter here"),
    "reason-empty": (GOOD | {"reason": ""}, ".reason='': says nothing; say why the rule does not matter here"),
    "reason-is-a-number": (GOOD | {"reason": 7}, ".reason=7: says nothing; say why the rule does not matter here"),
    "expires-missing": (without("expires"), ".expires: is missing; write a day like 2027-01-31"),
    "expires-no-day": (GOOD | {"expires": "soon"}, ".expires=soon: is not a date; write a day like 2027-01-31"),
    "expires-no-such-day": (
        GOOD | {"expires": "2027-02-30"},
        ".expires=2027-02-30: is not a date; write a day like 2027-01-31",
    ),
    "expired": (
        GOOD | {"expires": "2026-11-20"},
        ".expires=2026-11-20: has passed; fix what the rule reports, or give a later date",
    ),
    "unknown-key": (GOOD | {"expire": "2027-01-31"}, ".expire: is not a key of a suppression; did you mean expires?"),
    "key-like-none": (
        GOOD | {"xyzzy": 1},
        ".xyzzy: is not a key of a suppression; did you mean rule, reason, expires or resource?",
    ),
    "resource-no-text": (GOOD | {"resource": 1}, ".resource=1: must be a string; give a logical name, * for any"),
    "no-mapping": (
        "aws-type-in-zone",
        ": must be a mapping; write {rule: ..., reason: ..., expires: 2027-01-31}",
    ),
}


@pytest.mark.parametrize(("entry", "fault"), FAULTS.values(), ids=FAULTS.keys())
def test_each_fault_is_one_line(entry, fault):
    with pytest.raises(SuppressionError) as error:
        read(GOOD, entry)
    assert str(error.value) == f"gpufleet:suppress[1]{fault} [config-suppression]"


def test_all_faults_come_at_once():
    with pytest.raises(SuppressionError) as error:
        read({"rule": "aws-type-in-zone", "expires": "2026-01-01"}, {})
    assert [line.partition(":")[2].partition(":")[0] for line in str(error.value).splitlines()] == [
        "suppress[0].reason",
        "suppress[0].expires=2026-01-01",
        "suppress[1].rule",
        "suppress[1].reason",
        "suppress[1].expires",
    ]


@pytest.mark.parametrize("entries", ["aws-type-in-zone", {"rule": "aws-type-in-zone"}, 7])
def test_what_is_no_list_is_one_line(entries):
    with pytest.raises(SuppressionError) as error:
        read_suppressions(entries, "gpufleet:suppress", TODAY)
    assert str(error.value) == (
        "gpufleet:suppress: must be a list; write [{rule: ..., reason: ..., expires: 2027-01-31}] [config-suppression]"
    )


@pytest.mark.parametrize("expires", ["2026-11-21", "2026-11-21 00:00:00 +0000 UTC", date(2026, 11, 21)])
def test_it_holds_on_its_last_day_and_not_on_the_next(expires):
    assert read(GOOD | {"expires": expires})[0].expires == TODAY
    with pytest.raises(SuppressionError, match="has passed"):
        read(GOOD | {"expires": expires}, today=date(2026, 11, 22))


def test_none_are_none():
    assert read_suppressions(None, "x", TODAY) == ()
    assert read() == ()


def finding(rule="aws-type-in-zone", status=Status.FAIL):
    return Finding(rule, Severity.ERROR, status, "zones", ["a"], "is wrong", "use b")


@pytest.mark.parametrize(
    ("pattern", "resource", "rule", "covers"),
    [
        ("*", "aws-dev-trainers", "aws-type-in-zone", True),
        ("aws-dev-*", "aws-dev-trainers", "aws-type-in-zone", True),
        ("aws-dev-trainers", "aws-dev-trainers", "aws-type-in-zone", True),
        ("aws-dev", "aws-dev-trainers", "aws-type-in-zone", False),
        ("AWS-*", "aws-dev-trainers", "aws-type-in-zone", False),
        ("*", "aws-dev-trainers", "aws-type-in-region", False),
    ],
)
def test_what_it_covers(pattern, resource, rule, covers):
    suppressions = read(GOOD | {"resource": pattern})
    assert (suppression_of(resource, finding(rule), suppressions) is not None) is covers


def test_without_a_resource_it_covers_every_one():
    assert suppression_of("x", finding(), read(GOOD)) == Suppression(
        "aws-type-in-zone", "the zone has it since Monday", date(2027, 1, 31), "*"
    )


def test_the_report_says_until_when_and_why_in_one_line():
    covered = ResourceFinding("trainers", finding(), suppression=read(GOOD | {"reason": "we know\nit is there"})[0])
    assert not covered.rejects
    assert covered.line == (
        "trainers: zones=[a]: is wrong; use b [aws-type-in-zone] (suppressed until 2027-01-31: we know it is there)"
    )
    assert ResourceFinding("trainers", finding()).rejects
