"""Every mistake is refused with the right rule at every door that can see it, and its legal neighbour is not."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from gpufleet.rules import Finding, Severity, Status
from gpufleet.rules.messages import one_line
from tests.mistakes.corpus import mistakes
from tests.mistakes.entry_points import findings, judged_plainly, reported

BY_NAME = {mistake.name: mistake for mistake in mistakes()}
THROUGH = [(mistake.name, door) for mistake in mistakes() for door in mistake.wrong]
RAW = [mistake.name for mistake in mistakes() if "resources" in mistake.wrong]
SEVERAL = [mistake.name for mistake in mistakes() if len(mistake.wrong) > 1]


@cache
def found(name: str, door: str, version: str) -> tuple[Finding, ...]:
    mistake = BY_NAME[name]
    given: Mapping[str, Any] = mistake.wrong if version == "wrong" else mistake.legal
    return tuple(findings(mistake, door, given[door]))


def broken(name: str, door: str, version: str = "wrong") -> list[Finding]:
    """What the mistake's rule finds there."""
    rule = BY_NAME[name].rule
    return [each for each in found(name, door, version) if each.rule == rule and each.status is Status.FAIL]


def essence(finding: Finding) -> tuple[str, Severity, Status, str, str]:
    """What must be the same at all doors: raw resources may lack the argument's word."""
    return finding.rule, finding.severity, finding.status, finding.problem, finding.fix


@pytest.mark.parametrize(("name", "door"), THROUGH)
def test_mistake_is_found_with_its_fix(name: str, door: str) -> None:
    failures = broken(name, door)
    assert failures, f"{BY_NAME[name].rule} does not fail; others: {_others(name, door)}"
    for finding in failures:
        assert finding.problem
        assert finding.fix
        assert finding.refuses is (finding.severity is Severity.ERROR)


def _others(name: str, door: str) -> list[str]:
    return [each.line(door) for each in found(name, door, "wrong") if each.status is not Status.PASS]


@pytest.mark.parametrize("name", SEVERAL)
def test_all_doors_give_the_same_finding(name: str) -> None:
    said = {door: {essence(finding) for finding in broken(name, door)} for door in BY_NAME[name].wrong}
    first = next(iter(said.values()))
    assert all(each == first for each in said.values()), said


@pytest.mark.parametrize(("name", "door"), THROUGH)
def test_no_other_rule_refuses(name: str, door: str) -> None:
    mistake = BY_NAME[name]
    others = [
        finding.line(door)
        for finding in found(name, door, "wrong")
        if finding.refuses and finding.rule not in (mistake.rule, *mistake.also)
    ]
    assert others == []


@pytest.mark.parametrize(("name", "door"), THROUGH)
def test_nearest_legal_program_is_not_refused(name: str, door: str) -> None:
    mistake = BY_NAME[name]
    fine = (Status.PASS, Status.UNVERIFIED) if mistake.doubtful else (Status.PASS,)
    wrong = [
        finding.line(door)
        for finding in found(name, door, "legal")
        if (finding.rule == mistake.rule and finding.status not in fine) or finding.refuses
    ]
    assert wrong == []


@pytest.mark.parametrize("name", RAW)
def test_pack_reports_the_finding(name: str) -> None:
    """As the engine shows it: refusing ones from the mandatory policy, warnings from the advisory one."""
    mistake = BY_NAME[name]
    refusing, advising = reported(mistake, mistake.wrong["resources"])
    for finding in broken(name, "resources"):
        tail = f": {one_line(f'{finding.problem}; {finding.fix}')} [{finding.rule}]"
        lines = {Severity.ERROR: refusing, Severity.WARNING: advising}.get(finding.severity)
        if lines is None:  # advice is not shown at every preview
            assert not any(line.endswith(tail) for line in (*refusing, *advising))
        else:
            assert any(line.endswith(tail) for line in lines), (tail, refusing, advising)
    legal_refusing, legal_advising = reported(mistake, mistake.legal["resources"])
    assert legal_refusing == []
    said = [line for line in legal_advising if line.endswith(f"[{mistake.rule}]")]
    assert all("not verified" in line for line in said) if mistake.doubtful else not said


@pytest.mark.parametrize("name", RAW)
def test_a_plan_is_judged_as_the_engine_judges_it(name: str) -> None:
    """The SDK's proxies change nothing: unknown values are unknown in the same places."""
    mistake = BY_NAME[name]
    plain = judged_plainly(mistake.wrong["resources"], mistake.pack, mistake.config, mistake.region)
    assert {essence(each.finding) for each in plain} == {essence(each) for each in found(name, "resources", "wrong")}
