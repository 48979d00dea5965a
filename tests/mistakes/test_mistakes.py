"""Every mistake is rejected by the right rule at each entry point that can see it, and its legal neighbour is not."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from gpufleet.rules import Finding, Severity, Status
from gpufleet.rules.messages import one_line
from tests.mistakes.corpus import mistakes
from tests.mistakes.entry_points import findings, plan_findings, reported

BY_NAME = {mistake.name: mistake for mistake in mistakes()}
THROUGH = [(mistake.name, entry_point) for mistake in mistakes() for entry_point in mistake.wrong]
RAW = [mistake.name for mistake in mistakes() if "resources" in mistake.wrong]
SEVERAL = [mistake.name for mistake in mistakes() if len(mistake.wrong) > 1]


@cache
def found(name: str, entry_point: str, version: str) -> tuple[Finding, ...]:
    mistake = BY_NAME[name]
    given: Mapping[str, Any] = mistake.wrong if version == "wrong" else mistake.legal
    return tuple(findings(mistake, entry_point, given[entry_point]))


def broken(name: str, entry_point: str, version: str = "wrong") -> list[Finding]:
    """What the mistake's rule finds there."""
    rule = BY_NAME[name].rule
    return [each for each in found(name, entry_point, version) if each.rule == rule and each.status is Status.FAIL]


def essence(finding: Finding) -> tuple[str, Severity, Status, str, str]:
    """What must be the same at all entry points: raw resources may lack the argument's word."""
    return finding.rule, finding.severity, finding.status, finding.problem, finding.fix


@pytest.mark.parametrize(("name", "entry_point"), THROUGH)
def test_mistake_is_found_with_its_fix(name: str, entry_point: str) -> None:
    failures = broken(name, entry_point)
    assert failures, f"{BY_NAME[name].rule} does not fail; others: {_others(name, entry_point)}"
    for finding in failures:
        assert finding.problem
        assert finding.fix
        assert finding.rejects is (finding.severity is Severity.ERROR)


def _others(name: str, entry_point: str) -> list[str]:
    return [each.line(entry_point) for each in found(name, entry_point, "wrong") if each.status is not Status.PASS]


@pytest.mark.parametrize("name", SEVERAL)
def test_all_doors_give_the_same_finding(name: str) -> None:
    said = {each: {essence(finding) for finding in broken(name, each)} for each in BY_NAME[name].wrong}
    first = next(iter(said.values()))
    assert all(each == first for each in said.values()), said


@pytest.mark.parametrize(("name", "entry_point"), THROUGH)
def test_no_other_rule_refuses(name: str, entry_point: str) -> None:
    mistake = BY_NAME[name]
    others = [
        finding.line(entry_point)
        for finding in found(name, entry_point, "wrong")
        if finding.rejects and finding.rule not in (mistake.rule, *mistake.also)
    ]
    assert others == []


@pytest.mark.parametrize(("name", "entry_point"), THROUGH)
def test_nearest_legal_program_is_not_refused(name: str, entry_point: str) -> None:
    mistake = BY_NAME[name]
    fine = (Status.PASS, Status.UNVERIFIED) if mistake.doubtful else (Status.PASS,)
    wrong = [
        finding.line(entry_point)
        for finding in found(name, entry_point, "legal")
        if (finding.rule == mistake.rule and finding.status not in fine) or finding.rejects
    ]
    assert wrong == []


@pytest.mark.parametrize("name", RAW)
def test_pack_reports_the_finding(name: str) -> None:
    """As the engine shows it: rejecting ones from the mandatory policy, warnings from the advisory one."""
    mistake = BY_NAME[name]
    rejecting, advising = reported(mistake, mistake.wrong["resources"])
    for finding in broken(name, "resources"):
        tail = f": {one_line(f'{finding.problem}; {finding.fix}')} [{finding.rule}]"
        lines = {Severity.ERROR: rejecting, Severity.WARNING: advising}.get(finding.severity)
        if lines is None:  # advice is not shown at every preview
            assert not any(line.endswith(tail) for line in (*rejecting, *advising))
        else:
            assert any(line.endswith(tail) for line in lines), (tail, rejecting, advising)
    legal_refusing, legal_advising = reported(mistake, mistake.legal["resources"])
    assert legal_refusing == []
    said = [line for line in legal_advising if line.endswith(f"[{mistake.rule}]")]
    assert all("not verified" in line for line in said) if mistake.doubtful else not said


@pytest.mark.parametrize("name", RAW)
def test_a_plan_is_judged_as_the_engine_judges_it(name: str) -> None:
    """The SDK's proxies change nothing: unknown values are unknown in the same places."""
    mistake = BY_NAME[name]
    plain = plan_findings(mistake.wrong["resources"], mistake.pack, mistake.config, mistake.region)
    assert {essence(each.finding) for each in plain} == {essence(each) for each in found(name, "resources", "wrong")}
