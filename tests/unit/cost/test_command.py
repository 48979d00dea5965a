"""`gpufleet cost`: what it prints, and how it ends."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gpufleet.cli import main

DOCUMENT = (Path(__file__).parents[3] / "docs" / "cost.md").read_text(encoding="utf-8")
TAGS = {"owner": "ops", "project": "llm", "expires-at": "365d"}


def step(name: str, kind: str, inputs: dict[str, Any], operation: str = "create") -> dict[str, Any]:
    state = {"urn": f"urn:pulumi:dev::theirs::{kind}::{name}", "type": kind, "inputs": inputs}
    return {"op": operation, "urn": state["urn"], "newState": state}


SIZES = {"minSize": 0, "desiredSize": 1, "maxSize": 2}
TRAINERS = {"instanceTypes": ["p5e.48xlarge"], "scalingConfig": SIZES, "subnetIds": ["s"], "diskSize": 50, "tags": TAGS}
PREVIEW = {
    "config": {"aws:region": "us-east-1", "gpufleet:usage": '{"nat_gb": 1000, "busy_hours": 73}'},
    "steps": [
        step("trainers", "aws:eks/nodeGroup:NodeGroup", TRAINERS),
        step("nat", "aws:ec2/natGateway:NatGateway", {"subnetId": "s", "tags": TAGS}, "same"),
        step("role", "aws:iam/role:Role", {}),
        step("odd", "aws:neptune/cluster:Cluster", {}),
    ],
}


@pytest.fixture
def preview(tmp_path: Path) -> Path:
    return written(tmp_path / "preview.json", PREVIEW)


def written(file: Path, content: object) -> Path:
    file.write_text(json.dumps(content))
    return file


def cost(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["cost", *map(str, arguments)], env={"COLUMNS": "140"})


def as_json(*arguments: object) -> Any:
    done = cost(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_table_holds_figures_assumptions_and_unknowns(preview: Path) -> None:
    done = cost("--preview", preview)
    assert done.exit_code == 0
    for line in (
        f"dev, by the preview in {preview}",
        "  NAT gateway 0.045 /hour 32.85 32.85 32.85",
        "  data through NAT gateways 0.045 /GB 0.00 45.00 45.00",
        "all, a month 32.85 at least 78.25 at least 85.85",
        "  assumed: 1000 GB through NAT gateways",
        "  not priced: aws:neptune/cluster:Cluster (1 of it)",
    ):
        assert line in re.sub(r"  +", " ", done.stdout.replace("\n  ", "\n__")).replace("__", "  "), line
    assert "one busy month, max nodes in 73 h of it: at least 78.65\n" in done.stdout
    assert "trainers: nodes: p5e.48xlarge: no price of p5e.48xlarge in us-east-1" in done.stdout
    assert "[any-cost-price-known]" in done.stdout
    assert "vpc nat-gateway in us-east-1: AWS" not in done.stdout
    assert "--sources lists each with its source and date" in done.stdout
    assert "vpc nat-gateway in us-east-1: AWS" in cost("--preview", preview, "--sources").stdout


def test_usage_file_goes_before_the_stack_s_own(preview: Path, tmp_path: Path) -> None:
    usage = tmp_path / "usage.yaml"
    usage.write_text("nat_gb: 2000\n")
    assert as_json("--preview", preview)["assumptions"]["nat_gb"] == 1000
    assert as_json("--preview", preview, "--usage", usage)["assumptions"]["nat_gb"] == 2000


def test_json_has_the_documented_fields(preview: Path) -> None:
    found = as_json("--preview", preview)
    section = DOCUMENT.split("\n## JSON\n")[1]
    rows = re.findall(r"^\| (`[^|]+) \|", section, re.M)
    assert set(found) == {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    pool_row, line_words = re.findall(r"^\| `pools` \| (.+) \|$", section, re.M)[0], section.rsplit("A line has", 1)[1]
    assert set(found["pools"][0]) == set(re.findall(r"`(\w+)`", pool_row)) - {"low", "high", "as_of"}
    line = found["pools"][0]["lines"][0]
    assert set(line) | set(line["price"]) == set(re.findall(r"`(\w+)`", line_words))
    finding_row = re.findall(r"^\| `findings` \| (.+) \|$", section, re.M)[0]
    assert set(found["findings"][0]) == set(re.findall(r"`(\w+)`", finding_row))


def test_json_says_unknown_as_null_and_the_total_as_the_least(preview: Path) -> None:
    found = as_json("--preview", preview)
    nodes = found["pools"][0]["lines"][0]
    assert nodes["price"]["usd"] is None
    assert nodes["usd_per_month"] == {"floor": 0.0, "steady": None, "ceiling": None}
    assert found["totals"]["ceiling"] == {
        "usd_per_hour": round(85.85 / 730, 6),
        "usd_per_month": 85.85,
        "complete": False,
        "unknown_lines": 1,
    }
    assert found["busy_month"]["complete"] is False
    assert found["not_priced"] == {"aws:neptune/cluster:Cluster": 1}
    assert found["free"] == {"aws:iam/role:Role": {"count": 1, "why": "IAM has no price"}}


def test_json_is_the_same_whatever_the_order_of_the_steps(preview: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "other.json", PREVIEW | {"steps": PREVIEW["steps"][::-1]})
    one, two = as_json("--preview", preview), as_json("--preview", other)
    assert (one["totals"], one["pools"], one["other"]) == (two["totals"], two["pools"], two["other"])


def test_policy_configuration_and_suppressions_count(preview: Path, tmp_path: Path) -> None:
    entry = {"rule": "any-cost-price-known", "reason": "offer 4711", "expires": "2999-01-31"}
    config = {"cost": {"budget": "elsewhere", "suppress": [entry]}, "ownership": "advisory"}
    found = as_json("--preview", preview, "--policy-config", written(tmp_path / "limits.json", config))
    refusing = {each["rule"] for each in found["findings"] if each["refuses"]}
    assert refusing == set()
    assert {each["suppressed"] for each in found["findings"] if each["rule"] == "any-cost-price-known"} == {
        "suppressed until 2999-01-31: offer 4711"
    }


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("{", "not JSON"),
        ("{}", "no steps in it; give the output of `pulumi preview --json`"),
        ("[]", "no steps in it"),
        (json.dumps({"diagnostics": [{"message": "error: boom"}]}), "error: boom"),
        (json.dumps(PREVIEW | {"config": {"gpufleet:usage": '{"nat": 1}'}}), "gpufleet:usage.nat: unknown key"),
        (json.dumps(PREVIEW | {"config": {"gpufleet:usage": "lots"}}), "gpufleet:usage=lots: must be a mapping"),
    ],
)
def test_bad_preview_is_one_line_and_exit_1(tmp_path: Path, content: str, part: str) -> None:
    file = tmp_path / "preview.json"
    file.write_text(content)
    done = cost("--preview", file)
    assert (done.exit_code, done.stdout) == (1, "")
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "content", "part"),
    [
        ("--usage", "nat_gb: -1", "nat_gb=-1: must be a number of GB"),
        ("--policy-config", "[]", "must be an object, not a list"),
        ("--policy-config", '{"cost": {"stack_usd_month": 0}}', "cost.stack_usd_month=0: is not an amount"),
        ("--policy-config", '{"cost": {"suppress": [{"rule": "no"}]}}', "rule=no: unknown rule"),
    ],
)
def test_bad_option_is_said_and_exit_1(preview: Path, tmp_path: Path, option: str, content: str, part: str) -> None:
    file = tmp_path / "given"
    file.write_text(content)
    done = cost("--preview", preview, option, file)
    assert (done.exit_code, done.stdout) == (1, "")
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_file_that_is_not_there_is_said(preview: Path) -> None:
    for arguments in (["--preview", "/no/such"], ["--preview", preview, "--usage", "/no/such"]):
        done = cost(*arguments)
        assert done.exit_code == 1
        assert done.stderr.startswith("Error: /no/such: No such file or directory; ")
