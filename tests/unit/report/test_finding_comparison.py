"""Which findings are marked new, old, not known, or gone, and the line that decides a verdict."""

from datetime import date
from typing import Any

import pytest

from gpufleet.report.build import build_report
from gpufleet.report.finding_comparison import said_in_log
from gpufleet.report.formats.markdown import render_markdown
from gpufleet.report.model import StackReport
from gpufleet.report.preview_json import parse_preview
from gpufleet.report.text import LONGEST_REASON, reason, verdict_line
from tests.unit.report.written_previews import PROJECT, STACK, document, step, urn

CLUSTER, PART, BUCKET = "gpufleet-aws:index:Cluster", "aws:ec2/vpc:Vpc", "aws:s3/bucket:Bucket"
ELSEWHERE = {"cost": {"budget": "elsewhere"}}
REACHED = "dev-cluster: public_access_cidrs=[]: reached from inside only; list your address [aws-cluster-api-reached]"
TAGS = {"tags": {"owner": "me", "project": "p", "expires-at": "2027-01-01"}}


def with_cluster(
    operation: str, line: str = REACHED, severity: str = "warning", log: tuple[str, ...] | None = None
) -> StackReport:
    """A component whose only part is changed or not, and of which the program says a line."""
    component = urn(CLUSTER, "dev-cluster")
    inside = {"parent": component}
    steps = [
        {"op": "same", "urn": component, "newState": {"urn": component, "type": CLUSTER, "inputs": {}}},
        step(operation, PART, "dev-cluster-cluster", TAGS, TAGS | {"enableDnsSupport": True}, newStates=inside),
    ]
    said = {"severity": severity, "message": f"{severity}: {line}", "urn": ""}
    preview = parse_preview(document(*steps, diagnostics=[said]), "p")
    preview.base_log = log
    (stack,) = build_report([preview], policy_config=ELSEWHERE, today=date(2026, 11, 22)).stacks
    return stack


def known(stack: StackReport, rule: str) -> list[bool | None]:
    return [each.known for each in stack.issues if each.rule == rule]


def test_what_a_component_says_was_there_before_where_nothing_of_it_changes() -> None:
    assert known(with_cluster("same"), "aws-cluster-api-reached") == [True]
    touched = with_cluster("update")
    assert known(touched, "aws-cluster-api-reached") == [None]
    (issue,) = [each for each in touched.issues if each.rule == "aws-cluster-api-reached"]
    assert issue.fix == "list your address"


@pytest.mark.parametrize(
    ("log", "answer"),
    [
        ((f"    warning: {REACHED}",), True),
        (("    warning: dev-cluster: a=1: b; c [aws-cluster-other]",), False),
        ((), False),
    ],
)
def test_the_base_that_was_deployed_here_tells_what_it_said(log: tuple[str, ...], answer: bool) -> None:
    assert known(with_cluster("update", log=log), "aws-cluster-api-reached") == [answer]


def test_an_error_is_new_where_the_base_could_be_deployed() -> None:
    line = "dev-pool: zones=[a, b]: two zones; keep one [any-placement-one-zone]"
    failed = with_cluster("same", line, "error", ())
    assert (failed.verdict, known(failed, "any-placement-one-zone")) == ("failed", [False])
    assert verdict_line(failed) == f"the preview failed: {line}"
    assert "- \N{NO ENTRY} error: **new:** dev-pool: zones=" in render_markdown_of(failed)


def render_markdown_of(stack: StackReport) -> str:
    whole = build_report([], today=date(2026, 11, 22))
    whole.stacks.append(stack)
    return render_markdown(whole)


def test_what_is_gone() -> None:
    stack = with_cluster("update", log=("warning: old-cluster: a=1: b; c [aws-cluster-other]", "warning: words"))
    assert [each.rule for each in stack.gone] == ["aws-cluster-other"]
    preview = parse_preview(document(step("update", BUCKET, "data", {}, TAGS)), "p")
    (tagged,) = build_report([preview], today=date(2026, 11, 22)).stacks
    assert [(each.rule, each.resource) for each in tagged.gone] == [("any-owner-tags", "data")]
    assert "- gone: data: tags" in render_markdown_of(tagged)


def test_a_rule_that_says_the_same_of_a_component_and_its_part_is_one_finding() -> None:
    text = "version=1.35: ends soon; raise it [aws-cluster-version-supported]"
    part = urn(PART, "dev-cluster-cluster")
    said = [
        {"severity": "warning", "message": f"dev-cluster: {text}", "urn": ""},
        {"severity": "warning", "message": f"dev-cluster-cluster: {text}", "urn": part},
        {"severity": "warning", "message": "dev-other: version=1.35: x; y [aws-cluster-version-supported]", "urn": ""},
    ]
    preview = parse_preview(document(step("create", BUCKET, "b", new=TAGS), diagnostics=said), "p")
    (stack,) = build_report([preview], today=date(2026, 11, 22)).stacks
    found = [each.resource for each in stack.issues if each.rule == "aws-cluster-version-supported"]
    assert found == ["dev-cluster-cluster", "dev-other"]


def test_nothing_is_marked_where_there_is_nothing_to_compare_with() -> None:
    preview = parse_preview(document(step("create", BUCKET, "b", new={})), "p")
    preview.from_nothing = True
    (stack,) = build_report([preview], today=date(2026, 11, 22)).stacks
    assert not stack.compared
    assert {each.known for each in stack.issues} == {None}
    assert "new" not in render_markdown_of(stack).partition("### Findings")[2].partition("<details>")[0]


def test_the_first_line_gives_the_reason_and_the_fix() -> None:
    line = "pool: max=2: costs too much; set max=1 [any-cost-ceiling-pool]"
    failed = with_cluster("same", line, "error")
    first, second = render_markdown_of(failed).splitlines()[:2]
    assert first == f"<!-- gpufleet-report:{PROJECT}/{STACK} -->"
    assert second == (
        f"## \N{CROSS MARK} gpufleet: `{PROJECT}/{STACK}` the preview failed: pool: max=2: costs too much; set max=1 "
        "\\[any-cost-ceiling-pool\\]"
    )


def test_the_reason_is_a_new_finding_before_an_old_one_and_never_an_old_warning() -> None:
    old = with_cluster("same")
    assert reason(old) == ""
    assert verdict_line(old) == "passed with warnings"
    assert reason(with_cluster("update", log=())) == REACHED
    long = with_cluster("same", "x" * 1000, "error")
    assert len(reason(long)) == LONGEST_REASON
    two: dict[str, Any] = document(step("update", BUCKET, "z", TAGS, {}), step("same", BUCKET, "a", {}, {}))
    (stack,) = build_report([parse_preview(two, "p")], policy_config=ELSEWHERE, today=date(2026, 11, 22)).stacks
    assert reason(stack).startswith("z: tags")
    assert reason(stack).endswith(" (and 1 more)")


def test_a_log_without_warnings_says_nothing() -> None:
    assert said_in_log(["Updating (dev):", "  + 3 created", "warning: "], set()) == []
    (said,) = said_in_log(["    warning: key PLANTED is old"], {"PLANTED"})
    assert "PLANTED" not in said.line
