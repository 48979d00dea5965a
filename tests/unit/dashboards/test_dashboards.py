"""`gpufleet dashboards`: its files, the prices in them, and what is said where there is none."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from gpufleet.catalog import gpu_types
from gpufleet.cli import main
from gpufleet.cost.prices import node_price
from gpufleet.dashboards.grafana import dashboard, queries
from gpufleet.dashboards.pool_prices import pool_prices
from gpufleet.dashboards.rules import NODE_LABELS, POD_LABELS, recording_rules
from gpufleet.jobs.pool_info import PoolInfo

DOCS = Path(__file__).parents[3] / "docs"


def pool(types: list[str], zones: list[str], **others: Any) -> PoolInfo:
    records = [record for name in types if (record := gpu_types().get(name))]
    return PoolInfo("p", types, zones, "tcp", 2, records, "p-label", **others)


def test_price_of_a_pool_is_the_node_by_its_gpus() -> None:
    found, unknown = pool_prices({"p": pool(["p5.48xlarge"], ["use1-az1"])}, {})
    assert unknown == []
    assert found == {"p-label": pytest.approx((node_price("aws", "p5.48xlarge", "us-east-1").usd or 0) / 8)}


@pytest.mark.parametrize(
    "each",
    [pool(["p5.48xlarge", "p4d.24xlarge"], ["use1-az1"]), pool(["p5.48xlarge"], ["nowhere-1"]),
     pool(["p5.48xlarge"], ["use1-az1"], capacity="capacity-block"), pool([], [])],
)  # fmt: skip
def test_pool_without_one_price_has_none(each: PoolInfo) -> None:
    assert pool_prices({"p": each}, {}) == ({}, ["p"])
    assert pool_prices({"p": each}, {"p-label": 1.5}) == ({"p-label": 1.5}, [])


def test_rules_of_a_price_come_first_and_all_name_the_environment() -> None:
    (group,) = recording_rules("aws-dev", {"b": 2, "a": 1.25})["groups"]
    first, second, *others = group["rules"]
    assert first == {
        "record": "pool:gpufleet_gpu_hour:usd",
        "expr": "vector(1.25)",
        "labels": {"environment": "aws-dev", "pool": "a"},
    }
    assert second["labels"]["pool"] == "b"
    assert {json.dumps(rule["labels"]) for rule in others} == {'{"environment": "aws-dev"}'}


def test_dashboard_reads_only_what_the_rules_record() -> None:
    made = {rule["record"] for rule in recording_rules("x", {"p": 1})["groups"][0]["rules"]}
    read = {name for query in queries() for name in re.findall(r"\w+:gpufleet_\w+:\w+", query)}
    assert read <= made
    assert not any("$" in query for query in queries())
    assert not re.search("DCGM|kube_|node_amazon", json.dumps(dashboard()))


def test_panels_neither_overlap_nor_leave_the_grid() -> None:
    taken = set[tuple[int, int]]()
    for panel in dashboard()["panels"]:
        at = panel["gridPos"]
        own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not own & taken
        assert max(x for x, _ in own) < 24
        taken |= own


def test_the_guide_names_the_labels_that_the_rules_read() -> None:
    guide = (DOCS / "dashboards.md").read_text(encoding="utf-8")
    assert f"nodes=[{','.join(NODE_LABELS)}],pods=[{','.join(POD_LABELS)}]" in guide
    text = json.dumps(recording_rules("x", {}))
    for label in (*POD_LABELS, *NODE_LABELS):
        assert f"label_{re.sub('[^a-z0-9]', '_', label)}" in text


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    file = tmp_path / "outputs.json"
    server = {"clusters": [], "users": [], "contexts": [], "current-context": ""}
    pools = {"lab": {"types": ["p5.48xlarge"], "zones": ["use1-az1"]}, "odd": {"types": ["x.y"], "zones": ["z"]}}
    file.write_text(json.dumps({"kubeconfig": json.dumps(server), "jobs": {"namespace": "t", "pools": pools}}))
    return file


def test_command_writes_both_files_and_names_pools_without_a_price(outputs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    done = CliRunner().invoke(main, ["dashboards", "dev", "--outputs", str(outputs), "--to", str(folder)])
    assert done.exit_code == 0, done.output
    assert json.loads((folder / "dashboard.json").read_text()) == dashboard()
    (group,) = yaml.safe_load((folder / "rules.yaml").read_text())["groups"]
    assert len([rule for rule in group["rules"] if rule["record"] == "pool:gpufleet_gpu_hour:usd"]) == 1
    again = CliRunner().invoke(main, ["dashboards", "dev", "--outputs", str(outputs), "--to", str(folder), "--json"])
    assert json.loads(again.stdout)["unpriced"] == ["odd"]
    assert done.stderr == "note: pool odd has no one price, so it has no cost in the dashboard\n"


def test_folder_that_cannot_be_made_is_one_line(outputs: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(main, ["dashboards", "dev", "--outputs", str(outputs), "--to", str(tmp_path / "file")])
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "name a folder that can be written" in done.stderr
