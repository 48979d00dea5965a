"""The forms of a report: what is cut, what is escaped, and what the numbers in them count."""

import json
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest

from gpufleet.report.build import build_report
from gpufleet.report.chart import cost_chart
from gpufleet.report.configuration_files import configuration_files
from gpufleet.report.diagram import build_diagram
from gpufleet.report.formats.html import render_html
from gpufleet.report.formats.json import render_json
from gpufleet.report.formats.junit import render_junit
from gpufleet.report.formats.markdown import LIMIT, render_comment, render_markdown, text
from gpufleet.report.formats.mermaid import render_mermaid
from gpufleet.report.formats.sarif import render_sarif
from gpufleet.report.formats.svg import render_svg
from gpufleet.report.model import CostAmount, CostSummary, Report
from gpufleet.report.preview_json import parse_preview
from gpufleet.report.write_files import write_report_files
from gpufleet.rules.rule import all_rules
from tests.unit.report.written_previews import document, step

NODES, BUCKET, FILES = "aws:eks/nodeGroup:NodeGroup", "aws:s3/bucket:Bucket", "aws:efs/fileSystem:FileSystem"
TAGGED = {"tags": {"owner": "me", "project": "p", "expires-at": "2027-01-01"}}
NASTY = 'a|b`c<script>alert(1)</script>@everyone *bold* [link](http://x) "q" & #1'


def nodes(most: int) -> dict[str, Any]:
    scaling = {"minSize": 0, "desiredSize": 0, "maxSize": most}
    return {"instanceTypes": ["g5.8xlarge"], "scalingConfig": scaling, "capacityType": "ON_DEMAND"}


def made(*steps: dict[str, Any], **more: Any) -> Report:
    return build_report([parse_preview(document(*steps, **more), "p")], today=date(2026, 11, 22))


def usual(name: str = "trainers", buckets: int = 1, suppress: bool = False) -> Report:
    entry = {"rule": "any-cost-budget", "reason": "a trial @all", "expires": "2026-12-01"}
    config = {"aws:region": "us-east-1"} | ({"gpufleet:suppress": json.dumps([entry])} if suppress else {})
    return made(
        step("replace", NODES, name, nodes(2), nodes(40), replaceReasons=["x"]),
        step("delete", FILES, "shared", {}),
        *(
            step("update", BUCKET, f"data-{n}", TAGGED | {"x": "y" * 150}, TAGGED | {"x": "z" * 150})
            for n in range(buckets)
        ),
        config=config,
    )


def test_findings_stand_before_what_is_replaced_and_that_before_tables() -> None:
    comment = render_markdown(usual(suppress=True))
    assert comment.startswith("<!-- gpufleet-report:billing/dev -->\n## ")
    order = (
        "DATA WOULD BE LOST", "### Findings", "### Suppressed", "### Replaced and deleted", "- deleted `shared`",
        "- replaced `trainers`", "### Cost", "### GPUs", "Picture", "Full diff", "Assumptions", "catalog:",
    )  # fmt: skip
    places = [comment.index(each) for each in order]
    assert places == sorted(places)


@pytest.mark.parametrize("buckets", [1, 100, 300, 1000])
def test_a_comment_is_never_too_long_and_says_what_is_cut(buckets: int) -> None:
    """A bucket takes 390 characters: some 150 are the limit."""
    comment = render_markdown(usual(buckets=buckets))
    assert len(comment) <= LIMIT
    cut = "lines of the diff left out here for want of room: report.json has all." in comment
    assert cut is (buckets > 150)
    assert comment.rstrip().endswith("<br>")
    assert comment.count("<details>") == comment.count("</details>")
    assert comment.count("```") % 2 == 0
    if cut:
        # As much of the diff as there is room for.
        assert len(comment) > LIMIT - 1000


def test_the_diff_is_cut_first_then_the_picture_and_findings_last() -> None:
    whole = usual(buckets=30)
    lengths = {limit: render_comment(whole, whole.stacks[0], limit) for limit in (15_000, 9_000, 4_900)}
    for limit, comment in lengths.items():
        assert len(comment) <= limit
        assert "### Findings" in comment
        assert "- deleted `shared`" in comment
    assert "```mermaid" in lengths[15_000]
    assert "```mermaid" not in lengths[4_900]


def test_many_stacks_begin_with_the_total() -> None:
    one, two = (parse_preview(json.loads(json.dumps(document(step("update", NODES, "n", nodes(2), nodes(3)))).replace(
        "urn:pulumi:dev", f"urn:pulumi:{name}")), name) for name in ("a", "b"))  # fmt: skip
    both = render_markdown(build_report([one, two], today=date(2026, 11, 22)))
    assert "| `billing/a` | refused |" in both
    assert "All stacks together:" in both
    assert both.count("<!-- gpufleet-report:") == 2


def test_what_a_program_names_is_no_markup() -> None:
    nasty = usual(NASTY)
    assert "<script" not in render_html(nasty)
    assert "<script" not in render_svg(build_diagram(nasty.stacks[0]))
    ElementTree.fromstring(render_svg(build_diagram(nasty.stacks[0])))
    outside = render_markdown(nasty).split("<details><summary>Picture")[0].replace("\\`", "")
    assert "<script" not in "".join(outside.split("`")[::2])
    diagram = render_mermaid(build_diagram(nasty.stacks[0]))
    assert "<script" not in diagram
    assert all(line.count('"') % 2 == 0 for line in diagram.splitlines())
    assert text("@all") != "@all"
    junit = ElementTree.fromstring(render_junit(usual("bell \x07 rings")).encode())
    assert junit is not None


def test_the_page_says_why_in_its_title_and_links_each_rule_to_what_it_says() -> None:
    whole = usual()
    page = render_html(whole)
    line = next(issue.line for issue in whole.stacks[0].issues if issue.rejects)
    title, heading = (page.partition(f"<{tag}")[2].partition(f"</{tag}>")[0] for tag in ("title", "h1"))
    assert "billing/dev refused: " in title
    assert line[:40] in title
    assert "billing/dev refused: " in heading
    rules = {issue.rule for issue in whole.stacks[0].issues}
    for rule in rules:
        assert f'<a href="#rule-{rule}">{rule}</a>' in page
        assert page.count(f'id="rule-{rule}"') == 1
    places = [page.index(each) for each in ("<h3>Findings", "<h3>Replaced and deleted", "<h3>Cost", "<h3>GPUs")]
    assert places == sorted(places)


def test_the_page_marks_code_and_makes_no_other_markup_of_a_text() -> None:
    said = {"severity": "warning", "urn": "", "message": "warning: a: b=1: run `x <b>`; c [any-cost-budget] [none]"}
    page = render_html(made(step("create", BUCKET, "x", None, TAGGED), diagnostics=[said]))
    assert "run <code>x &lt;b&gt;</code>" in page
    assert "`" not in page.partition("<body>")[2]
    assert "[none]" in page


def test_junit_counts() -> None:
    suppressed = usual(suppress=True)
    (suite,) = ElementTree.fromstring(render_junit(suppressed).encode())
    issues = suppressed.stacks[0].issues
    assert int(suite.get("tests", "")) == 1 + len(issues) == len(suite.findall("testcase"))
    assert int(suite.get("failures", "")) == sum(issue.rejects for issue in issues) == len(suite.findall("*/failure"))
    assert int(suite.get("skipped", "")) == len(suite.findall("*/skipped")) > 0
    skipped = [each.get("message") for each in suite.findall("*/skipped")]
    assert "suppressed until 2026-12-01: a trial @all" in skipped


def test_junit_of_a_preview_that_failed() -> None:
    failed = made(diagnostics=[{"severity": "error", "message": "no", "urn": "urn:pulumi:dev::billing::t::n"}])
    (suite,) = ElementTree.fromstring(render_junit(failed).encode())
    failing = [case.get("name") for case in suite.findall("testcase") if case.find("failure") is not None]
    assert failing == ["preview", "n"]


def test_sarif_rules_and_results() -> None:
    whole = usual(suppress=True)
    (run,) = json.loads(render_sarif(whole, {"billing/dev": "stacks/config/Pulumi.dev.yaml"}))["runs"]
    rules = run["tool"]["driver"]["rules"]
    sentences = {rule.name: rule.sentence for rule in all_rules()}
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        rule = rules[result["ruleIndex"]]
        assert rule["id"] == result["ruleId"]
        assert rule["shortDescription"]["text"] == sentences[rule["id"]]
        assert rule["help"]["markdown"].endswith(f"See docs/rules.md#{rule['id']}.")
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "stacks/config/Pulumi.dev.yaml"
        assert place["logicalLocations"][0]["fullyQualifiedName"]
    suppressed = [result["ruleId"] for result in run["results"] if "suppressions" in result]
    assert suppressed == ["any-cost-budget"]
    levels = {result["ruleId"]: result["level"] for result in run["results"]}
    assert levels["any-cost-approval"] == "error"
    prints = [result["partialFingerprints"]["gpufleet/v1"] for result in run["results"]]
    assert len(set(prints)) == len(prints)
    assert run["automationDetails"]["id"] == "gpufleet/billing/dev/"


def test_bars_are_in_proportion() -> None:
    money = CostSummary(
        CostAmount(0, 0, 0, True),
        CostAmount(None, 50, None, True),
        CostAmount(0, 0, 0, True),
        CostAmount(25, 100, 75, True),
        CostAmount(0, 0, 0, True),
    )
    svg = ElementTree.fromstring(cost_chart([("x", money)]).split("<p")[0])
    bars = [(each.get("class"), each.get("data-usd"), each.get("height")) for each in svg.iter("rect")]
    assert bars == [
        ("before", "0.00", "0.000"),
        ("after", "0.00", "0.000"),
        ("after", "50.00", "110.000"),
        ("before", "25.00", "55.000"),
        ("after", "100.00", "220.000"),
    ]


def test_the_picture_has_zones_placement_groups_and_what_changes() -> None:
    subnet = {"availabilityZoneId": "use1-az1"}
    pool = nodes(2) | {"subnetIds": ["subnet-1"]}
    links = {"propertyDependencies": {"subnetIds": ["urn:pulumi:dev::billing::aws:ec2/subnet:Subnet::a"]}}
    drawn = render_mermaid(
        build_diagram(
            made(
                step("same", "aws:ec2/subnet:Subnet", "a", subnet, subnet),
                step("update", NODES, "trainers", pool, pool, oldStates=links, newStates=links),
                step("delete", FILES, "shared", {}),
            ).stacks[0]
        )
    )
    assert 'subgraph z0["use1-az1"]' in drawn
    assert "<i>UPDATED</i>" in drawn
    assert "<i>DELETED</i>" in drawn
    assert "class s0 gone" in drawn


def test_the_picture_has_the_network_and_the_cluster_around_the_zones() -> None:
    vpc = {"cidrBlock": "10.0.0.0/16"}
    drawn = build_diagram(
        made(
            step("same", "aws:ec2/vpc:Vpc", "net", vpc, vpc),
            step("update", "aws:eks/cluster:Cluster", "cluster", {"version": "1.34"}, {"version": "1.35"}),
            step("create", NODES, "trainers", None, nodes(2)),
        ).stacks[0]
    )
    lines = [line.strip() for line in render_mermaid(drawn).splitlines()]
    assert lines[1:4] == [
        'subgraph network["network net, 10.0.0.0/16"]',
        'subgraph cluster["cluster cluster, Kubernetes 1.35, <i>UPDATED</i>"]',
        'subgraph z0["any zone"]',
    ]
    assert lines.count("end") == 3
    assert "class cluster changed" in lines
    places = {}
    for rect in ElementTree.fromstring(render_svg(drawn)).iter("{http://www.w3.org/2000/svg}rect"):
        x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
        places[rect.attrib["class"]] = (x, y, x + width, y + height)
    assert list(places) == ["frame same", "frame update", "zone", "box create"]
    for outer, inner in zip(list(places.values())[:-1], list(places.values())[1:], strict=True):
        assert outer[0] < inner[0]
        assert outer[1] + 20 < inner[1]
        assert outer[2] > inner[2]
        assert outer[3] > inner[3]


def test_two_networks_share_a_frame() -> None:
    both = [step("create", "azure-native:network:VirtualNetwork", name, None, {}) for name in ("b", "a")]
    drawn = build_diagram(made(*both, step("create", NODES, "trainers", None, nodes(2))).stacks[0])
    assert [(each.title, each.operation) for each in drawn.frames] == [("networks a, b", "create")]
    assert build_diagram(made(*both).stacks[0]).frames == []


def test_the_json_has_all_that_the_report_has() -> None:
    made = usual()
    assert msgspec.json.decode(render_json(made), type=Report) == made


def test_files_stay_in_their_directory(tmp_path: Path) -> None:
    nasty = json.loads(json.dumps(document(step("create", BUCKET, "x", None, {}))).replace("billing", "../../up"))
    names = write_report_files(build_report([parse_preview(nasty, "p")]), tmp_path / "out", tmp_path)
    assert ".._.._up.dev.md" in names
    assert {path.parent for path in tmp_path.rglob("*.*")} == {tmp_path / "out"}


def test_where_the_configuration_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "infra").mkdir()
    (tmp_path / "infra" / "Pulumi.yaml").write_text("name: x\nstackConfigDir: config\n")
    monkeypatch.chdir(tmp_path)
    assert configuration_files(Path("infra"), [("x/dev", "dev")]) == {"x/dev": "infra/config/Pulumi.dev.yaml"}
    assert configuration_files(Path(), [("x/dev", "dev")]) == {"x/dev": "Pulumi.dev.yaml"}
