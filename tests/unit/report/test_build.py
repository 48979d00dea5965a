"""The verdict: what of previews, packs, settings and a base branch makes it, and what is refused as input."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gpufleet.errors import UserError
from gpufleet.report.build import build_report
from gpufleet.report.event_log import read_event_log
from gpufleet.report.exit_codes import data_losses, should_fail
from gpufleet.report.formats.json import render_json, schema, schema_text
from gpufleet.report.load_previews import read_preview
from gpufleet.report.model import Report, StackReport
from gpufleet.report.preview import Diagnostic, InvalidPreview, Preview
from gpufleet.report.preview_json import parse_preview
from gpufleet.report.step_summary import step_summary
from gpufleet.report.text import GPU_HEADINGS, gpu_row, headline, money_rows
from gpufleet.report.write_files import write_report_files
from tests.unit.report.written_previews import document, step, urn

TODAY = date(2026, 11, 22)
REGION = {"aws:region": "us-east-1"}
PREVIEWS = Path(__file__).parent / "previews"
NODES, BUCKET, BUDGET = "aws:eks/nodeGroup:NodeGroup", "aws:s3/bucket:Bucket", "aws:budgets/budget:Budget"
TAGS = {"owner": "me", "project": "p", "expires-at": "2027-01-01"}
LIMIT = {"limitAmount": "5000", "limitUnit": "USD", "timeUnit": "MONTHLY", "budgetType": "COST"}


def nodes(most: int, kind: str = "g5.8xlarge") -> dict[str, Any]:
    scaling = {"minSize": 0, "desiredSize": 0, "maxSize": most}
    return {"instanceTypes": [kind], "scalingConfig": scaling, "capacityType": "ON_DEMAND", "tags": TAGS}


def made(*steps: dict[str, Any], **more: Any) -> StackReport:
    (stack,) = build_report([parse_preview(document(*steps, **more), "p")], today=TODAY).stacks
    return stack


def grown() -> StackReport:
    return made(
        step("update", NODES, "trainers", nodes(2), nodes(4)),
        step("same", BUDGET, "budget", LIMIT, LIMIT),
        step("same", BUCKET, "data", {"tags": TAGS}, {"tags": TAGS}),
    )


def test_cost_before_and_after() -> None:
    cost = grown().cost
    assert cost is not None
    each = cost.ceiling.usd_month_change
    assert each is not None
    # Two nodes of g5.8xlarge more, and their disks: 2 x 2.448 x 730 h and 2 x 20 GiB at least.
    assert 2 * 2.448 * 730 < each < 2 * 2.6 * 730
    assert cost.floor.usd_month_change == 0
    assert cost.ceiling.complete


def on_a_reservation(was: int, will: int) -> StackReport:
    kind, name = "aws:ec2/launchTemplate:LaunchTemplate", "template"
    target = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}
    template = {"capacityReservationSpecification": target, "tags": TAGS}

    def pool(most: int) -> dict[str, Any]:
        return nodes(most, "p5.48xlarge") | {"launchTemplate": {"id": "lt-1", "version": "1"}}

    behind = {"propertyDependencies": {"launchTemplate": [urn(kind, name)]}}
    return made(
        step("same", kind, name, template, template, oldStates={"id": "lt-1"}, newStates={"id": "lt-1"}),
        step("update", NODES, "reserved", pool(was), pool(will), oldStates=behind, newStates=behind),
    )


def test_a_change_of_what_was_bought_elsewhere_is_no_saving() -> None:
    stack = on_a_reservation(16, 14)
    assert stack.cost is not None
    less = round(-2 * 730 * 55.04, 2)
    assert stack.cost.committed.usd_month_change == stack.cost.floor.usd_month_change == less
    assert f"of it -${-less:,.2f} on reservations bought elsewhere" in headline(stack)
    assert [note for note in stack.notes if "only real once the reservation itself is changed" in note]
    same = on_a_reservation(16, 16)
    assert same.notes == []
    assert same.cost is not None
    assert [row[0].split()[0] for row in money_rows(same.cost)] == ["floor", "steady", "busy", "ceiling", "committed"]


def test_nothing_is_said_of_reservations_where_there_are_none() -> None:
    stack = grown()
    assert stack.cost is not None
    assert "elsewhere" not in headline(stack)
    assert [row[0].split()[0] for row in money_rows(stack.cost)] == ["floor", "steady", "busy", "ceiling"]


def test_a_busy_month_shows_what_another_type_costs_where_no_node_is_desired_yet() -> None:
    stack = made(step("update", NODES, "trainers", nodes(2, "g5.8xlarge"), nodes(2, "p4d.24xlarge")))
    assert stack.cost is not None
    assert stack.cost.steady.usd_month_change == 0
    (row,) = [row for row in money_rows(stack.cost) if row[0] == "busy month (max nodes in busy hours)"]
    # 2 nodes, 160 h, 21.957642 instead of 2.448 an hour; the disks are the same.
    assert row[3] == f"+${2 * 160 * (21.957642 - 2.448):,.2f}"


def test_gpus_before_and_after() -> None:
    (pool,) = grown().gpus
    assert pool.before is not None
    assert pool.after is not None
    assert (pool.before.most, pool.before.gpus, pool.after.most, pool.after.gpus) == (2, 2, 4, 4)
    assert (pool.name, pool.operation, pool.after.market) == ("trainers", "update", "on-demand")
    assert pool.after.usd_hour_most is not None
    assert pool.after.usd_gpu_hour == round(pool.after.usd_hour_most / 4, 4)
    # A g5.8xlarge has 32 vCPUs: https://aws.amazon.com/ec2/instance-types/g5/.
    assert (pool.before.quotas, pool.after.quotas) == (
        ["64 vCPUs of G and VT on-demand"],
        ["128 vCPUs of G and VT on-demand"],
    )
    row = dict(zip(GPU_HEADINGS, gpu_row(pool), strict=True))
    assert row["GPUs at most"] == "2 \N{RIGHTWARDS ARROW} 4"
    assert row["$ a GPU-hour"] == f"${pool.after.usd_gpu_hour:.2f}"
    assert row["quota needed"] == "64 vCPUs of G and VT on-demand \N{RIGHTWARDS ARROW} 128 vCPUs of G and VT on-demand"


def test_a_reservation_asks_for_no_quota_and_a_pool_that_goes_for_nothing() -> None:
    (pool,) = on_a_reservation(16, 14).gpus
    assert gpu_row(pool)[-1] == "none"
    (gone,) = made(step("delete", NODES, "trainers", nodes(2))).gpus
    size, gpus, _, _, hourly, price, quota = gpu_row(gone)[2:]
    assert [each.rpartition(" ")[2] for each in (size, gpus, price, quota)] == ["none"] * 4
    assert hourly.endswith("\N{RIGHTWARDS ARROW} $0.00")


def test_budget_left() -> None:
    stack = grown()
    assert stack.cost is not None
    (budget,) = stack.budgets
    assert budget.usd_month == 5000
    assert budget.left_ceiling == round(5000 - stack.cost.ceiling.usd_month_after, 2)
    assert budget.left_steady == round(5000 - stack.cost.steady.usd_month_after, 2)


@pytest.mark.parametrize(
    ("inputs", "usd"),
    [
        (LIMIT | {"timeUnit": "ANNUALLY", "limitAmount": "12000"}, 1000),
        (LIMIT | {"timeUnit": "DAILY"}, None),
        (LIMIT | {"limitUnit": "GB"}, None),
        (LIMIT | {"limitAmount": "04da6b54-80e4-46f7-96ec-b56ff0331ba9"}, None),
    ],
)
def test_budgets_of_other_kinds(inputs: dict[str, Any], usd: float | None) -> None:
    assert made(step("same", BUDGET, "b", inputs, inputs)).budgets[0].usd_month == usd


def test_azure_budget() -> None:
    inputs = {"amount": 900, "timeGrain": "Quarterly"}
    assert made(step("create", "azure-native:consumption:Budget", "b", None, inputs)).budgets[0].usd_month == 300


def test_what_is_new_and_what_was_there() -> None:
    stack = made(
        step("update", NODES, "trainers", nodes(2), nodes(40)),
        step("update", BUCKET, "data", {"tags": {}}, {"tags": {"a": "b"}}),
    )
    known = {issue.rule: issue.known for issue in stack.issues}
    assert known["any-cost-approval"] is False
    assert known["any-owner-tags"] is True
    assert stack.verdict == "refused"


def test_suppression_of_the_stack() -> None:
    entry = {"rule": "any-cost-budget", "reason": "trial", "expires": "2026-12-01"}
    stack = made(
        step("create", BUCKET, "data", None, {"tags": TAGS}), config=REGION | {"gpufleet:suppress": json.dumps([entry])}
    )
    (issue,) = stack.suppressions
    assert issue.suppressed is not None
    assert (issue.rule, issue.suppressed.reason, issue.suppressed.until) == ("any-cost-budget", "trial", "2026-12-01")
    assert stack.verdict == "passed"


def test_a_suppression_whose_day_has_passed_is_a_finding() -> None:
    entry = {"rule": "any-cost-budget", "reason": "trial", "expires": "2026-11-01"}
    stack = made(step("create", BUCKET, "data", None, {}), config={"gpufleet:suppress": json.dumps([entry])})
    (fault,) = [issue for issue in stack.issues if issue.rule == "config-suppression"]
    assert fault.line.startswith("gpufleet:suppress[0].expires=2026-11-01: has passed")
    assert stack.verdict == "refused"


def test_a_preview_that_failed_says_why_and_prices_nothing() -> None:
    said = "dev-trainers: zones=[a, b]: a group lies in one zone; keep one zone [any-placement-one-zone]"
    failed = {"diagnostics": [{"severity": "error", "message": f"error: {said}\n", "urn": urn(BUCKET, "data")}]}
    stack = made(step("create", BUCKET, "data", None, {}), **failed)
    (issue,) = stack.issues
    assert (stack.verdict, stack.cost, stack.checks_passed) == ("failed", None, 0)
    assert (issue.rule, issue.resource, issue.fix) == ("any-placement-one-zone", "dev-trainers", "keep one zone")
    assert issue.line == said


def test_a_failed_preview_without_any_step_is_a_report() -> None:
    message = "a: b\n c"
    stack = made(diagnostics=[{"severity": "error", "message": message, "urn": urn("pulumi:pulumi:Stack", "s")}])
    assert stack.verdict == "failed"
    assert stack.issues[0].line == "a: b c"


def events(*events: dict[str, Any], packs: str = "gpufleet-cost") -> Preview:
    net = urn(BUCKET, "data")
    state = {"type": BUCKET, "urn": net, "custom": True, "inputs": {}}
    first = {"resourcePreEvent": {"metadata": {"op": "same", "urn": net, "old": state, "new": state}}}
    last = {"summaryEvent": {"PolicyPacks": {f"{packs}|local|/x": "1"}}}
    lines = (json.dumps({"sequence": 1, **each}, separators=(",", ":")).encode() for each in (first, *events, last))
    return read_event_log(lines, "log")  # type: ignore[arg-type]


def violation(message: str, level: str = "mandatory", pack: str = "gpufleet-cost") -> dict[str, Any]:
    said = {"resourceUrn": urn(BUCKET, "data"), "message": message, "policyName": "cost", "policyPackName": pack}
    return {"policyEvent": said | {"enforcementLevel": level}}


def test_violations_of_our_packs_are_taken_apart() -> None:
    refused = violation("What a stack may cost.\ndata: max=4: is too much; set max=1 [any-cost-ceiling-pool]\n")
    doubt = violation("x.\ndata: tags=?: not verified: tags are not known; look [any-owner-tags]", "advisory")
    lived_with = violation(
        "x.\ndata: a=1: is bad; mend it [any-cost-budget] (suppressed until 2026-12-01: a trial)", "advisory"
    )
    (stack,) = build_report([events(refused, doubt, lived_with)], today=TODAY).stacks
    found = {issue.rule: issue for issue in stack.issues}
    assert (found["any-cost-ceiling-pool"].rejects, found["any-cost-ceiling-pool"].fix) == (True, "set max=1")
    assert (found["any-owner-tags"].status, found["any-owner-tags"].severity) == ("unverified", "warning")
    assert found["any-cost-budget"].suppressed is not None
    assert found["any-cost-budget"].line == "data: a=1: is bad; mend it [any-cost-budget]"
    assert {issue.source for issue in stack.issues} == {"gpufleet-cost"}
    assert stack.verdict == "refused"


def test_violations_of_other_packs_are_told_whole() -> None:
    (stack,) = build_report(
        [events(violation("No.\nNever: at all", "advisory", "theirs"), packs="theirs")], today=TODAY
    ).stacks
    (issue,) = stack.issues
    assert (issue.rule, issue.line, issue.severity) == ("theirs/cost", "No. Never: at all", "warning")
    assert stack.verdict == "warned"
    assert "No policy pack of gpufleet ran: nothing was checked." in stack.notes


def test_the_pack_counts_where_both_judge() -> None:
    plain = parse_preview(document(step("same", BUCKET, "data", {}, {})), "p")
    alone = build_report([plain], today=TODAY)
    assert {issue.rule for issue in alone.stacks[0].issues} == {"any-cost-budget", "any-owner-tags"}
    with_log = build_report([plain, events(violation("x\ndata: a=1: b; c [any-cost-nat]", "advisory"))], today=TODAY)
    assert [issue.rule for issue in with_log.stacks[0].issues] == ["any-cost-nat"]
    # A pack of somebody else takes nothing away.
    plain = parse_preview(document(step("same", BUCKET, "data", {}, {})), "p")
    others = build_report([plain, events(packs="theirs")], today=TODAY)
    assert {issue.rule for issue in others.stacks[0].issues} == {"any-cost-budget", "any-owner-tags"}


def test_base_branch_instead_of_a_state() -> None:
    old = parse_preview(document(step("create", NODES, "n", None, nodes(2))), "base.json")
    new = parse_preview(document(step("create", NODES, "n", None, nodes(4))), "p")
    (stack,) = build_report([new], befores=[old], from_nothing=True, today=TODAY).stacks
    assert stack.cost is not None
    assert stack.summary == {"change": 1}
    assert stack.cost.ceiling.usd_month_change is not None
    assert stack.cost.ceiling.usd_month_change > 0
    assert stack.notes == [
        "Compared with base.json: whether a change is made in place or by replacement, only a state tells."
    ]


def test_from_nothing_there_is_no_before() -> None:
    new = parse_preview(document(step("create", NODES, "n", None, nodes(4))), "p")
    (stack,) = build_report([new], from_nothing=True, today=TODAY).stacks
    assert stack.cost is not None
    assert stack.cost.ceiling.usd_month_before is None
    assert [issue.known for issue in stack.issues] == [None] * len(stack.issues)


def test_unchanged_resources_that_are_left_out_are_said() -> None:
    stack = made(step("create", BUCKET, "b", None, {}), changeSummary={"same": 3})
    assert stack.unchanged == 3
    assert stack.notes[0].startswith("3 unchanged resources are not in the preview")


def of_stack(name: str, *steps: dict[str, Any]) -> Preview:
    return parse_preview(
        json.loads(json.dumps(document(*steps)).replace("urn:pulumi:dev::", f"urn:pulumi:{name}::")), name
    )


def test_many_stacks_and_their_total() -> None:
    stacks = [of_stack(name, step("update", NODES, "n", nodes(2), nodes(4))) for name in ("b", "a")]
    both = build_report(stacks, today=TODAY)
    assert [stack.name for stack in both.stacks] == ["billing/a", "billing/b"]
    assert both.total is not None
    assert both.stacks[0].cost is not None
    assert both.total.ceiling.usd_month_after == 2 * both.stacks[0].cost.ceiling.usd_month_after
    assert both.total.ceiling.complete


def test_a_stack_that_failed_makes_the_total_incomplete() -> None:
    good = of_stack("a", step("create", NODES, "n", None, nodes(2)))
    bad = of_stack("b", step("create", NODES, "n", None, nodes(2)))
    bad.diagnostics.append(Diagnostic("", "error", "no"))
    both = build_report([good, bad], today=TODAY)
    assert both.verdict == "failed"
    assert both.total is not None
    assert not both.total.ceiling.complete


@pytest.mark.parametrize(
    ("previews", "befores", "said"),
    [
        ([], ["a"], "a: of billing/a, for which no preview was given"),
        (["a", "a"], [], "a: of billing/a, as a; give one preview of each stack"),
    ],
)
def test_previews_that_do_not_fit(previews: list[str], befores: list[str], said: str) -> None:
    one = step("create", BUCKET, "x", None, {})
    with pytest.raises(InvalidPreview, match=said):
        build_report(
            [of_stack(each, one) for each in [*previews, "z"]], befores=[of_stack(each, one) for each in befores]
        )


def test_a_preview_of_no_stack() -> None:
    with pytest.raises(InvalidPreview, match="p: does not name a stack: no steps in it; run it with --show-sames"):
        build_report([parse_preview(document(), "p")])


def test_configuration_of_policies() -> None:
    one = parse_preview(document(step("create", NODES, "n", None, nodes(4))), "p")
    config = {"cost": {"pool_usd_month": 1}}
    rules = {issue.rule for issue in build_report([one], policy_config=config, today=TODAY).stacks[0].issues}
    assert "any-cost-ceiling-pool" in rules
    with pytest.raises(
        UserError, match="policy configuration: costs: unknown policy; use one of zones, cost, ownership"
    ):
        build_report([one], policy_config={"costs": {}})
    with pytest.raises(UserError, match=r"cost\.pool_usd_mont: unknown key"):
        build_report([one], policy_config={"cost": {"pool_usd_mont": 1}})


@pytest.mark.parametrize(
    ("verdict", "codes"),
    [
        ("failed", (True, True, False)),
        ("refused", (True, True, False)),
        ("warned", (False, True, False)),
        ("passed", (False, False, False)),
    ],
)
def test_exits(verdict: Any, codes: tuple[bool, ...]) -> None:
    made = Report(1, verdict, None, [], None)  # type: ignore[arg-type]
    assert tuple(should_fail(made, each) for each in ("refuse", "warning", "never")) == codes


def all_reports() -> list[Report]:
    plain = read_preview(PREVIEWS / "secrets.json")
    return [
        build_report([plain], today=TODAY),
        build_report([read_preview(PREVIEWS / "secrets.events.jsonl")], today=TODAY),
        build_report([events(violation("x\ndata: a=1: b; c [any-cost-nat]"))], today=TODAY),
        build_report(
            [parse_preview(document(step("update", NODES, "trainers", nodes(2), nodes(40))), "p")], today=TODAY
        ),
    ]


@pytest.mark.parametrize("number", range(4))
def test_the_json_fits_its_schema(number: int) -> None:
    made = json.loads(render_json(all_reports()[number]))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.Draft202012Validator(schema()).validate(made)
    for spoilt in (made | {"verdict": "fine"}, made | {"more": 1}, {k: v for k, v in made.items() if k != "footer"}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.Draft202012Validator(schema()).validate(spoilt)


def test_the_schema_in_the_repository_is_current() -> None:
    import gpufleet.report

    assert (Path(gpufleet.report.__file__).parent / "schema.json").read_text() == schema_text()


def test_losses_are_what_is_deleted_with_its_data() -> None:
    kept = step("delete", BUCKET, "kept", {}, oldStates={"retainOnDelete": True})
    route = step("delete", "aws:ec2/route:Route", "route", {})
    gone = step("delete", BUCKET, "gone", {"forceDestroy": True})
    document_of = [parse_preview(document(kept, route, gone), "p")]
    assert [each.name for each in data_losses(build_report(document_of, today=TODAY))] == ["gone"]


def test_configuration_of_single_stacks_and_how_a_preview_was_made() -> None:
    one = parse_preview(document(step("create", BUCKET, "b", new={})), "p")
    one.notes, one.from_nothing = ("On simulated clouds.",), True
    config = {"cost": {"budget": "elsewhere"}}
    (own,) = build_report([one], policy_configs={one.name: config}, today=TODAY).stacks
    assert own.notes[0] == "On simulated clouds."
    assert "from nothing" in own.notes[1]
    assert "any-cost-budget" not in {issue.rule for issue in own.issues}
    (other,) = build_report([one], policy_configs={("other", "stack"): config}, today=TODAY).stacks
    assert "any-cost-budget" in {issue.rule for issue in other.issues}


def test_a_change_that_touches_nothing(tmp_path: Path) -> None:
    nothing = build_report([], today=TODAY)
    assert (nothing.verdict, nothing.total, should_fail(nothing, "warning")) == ("passed", None, False)
    assert sorted(write_report_files(nothing, tmp_path, tmp_path)) == [
        "report.html",
        "report.json",
        "report.junit.xml",
        "report.md",
    ]
    jsonschema.validate(json.loads((tmp_path / "report.json").read_text()), schema())
    assert "No environment is affected" in step_summary(nothing)
