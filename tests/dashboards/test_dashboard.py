"""Prometheus' engine answers every query of the dashboard, and Grafana's schema takes it."""

import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest

from gpufleet.dashboards.grafana import dashboard, queries
from gpufleet.dashboards.rules import recording_rules
from tests.dashboards import scene
from tests.unit.node_health.dcgm_metrics import dcgm_metrics, with_xid
from tools.prometheus.judge import judge
from tools.prometheus.picture import draw

pytestmark = pytest.mark.cluster
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "dashboard.svg"
TIMES = (scene.START, scene.END, scene.STEP)


def answers(**how: bool) -> dict[str, Any]:
    rules = json.dumps(recording_rules("aws-dev", scene.PRICES))
    return judge(dashboard(), rules, scene.scrapes(**how), queries(), TIMES)


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return answers()


def last(told: dict[str, Any], query: str) -> dict[str, float]:
    """The last value of each series of the query that begins so, by its labels' values."""
    found = next(result for text, result in told["results"].items() if text.startswith(query))
    return {" ".join(each["labels"].values()): each["points"][-1][1] for each in found["series"]}


def test_grafana_takes_the_dashboard(told: dict[str, Any]) -> None:
    assert told["dashboard"] == []


def test_prometheus_takes_every_rule_and_each_records_something(told: dict[str, Any]) -> None:
    assert told["rules"] == []
    made = {rule["record"] for group in recording_rules("x", {"p": 1.0})["groups"] for rule in group["rules"]}
    assert set(told["recorded"]) == made
    assert [name for name, series in told["recorded"].items() if not series] == []


def test_every_query_finds_series(told: dict[str, Any]) -> None:
    assert {text: result["error"] for text, result in told["results"].items() if result["error"]} == {}
    assert [text for text, result in told["results"].items() if not any(s["points"] for s in result["series"])] == []


def test_gpus_and_cost_are_those_of_the_nodes(told: dict[str, Any]) -> None:
    assert last(told, "sum(pool:gpufleet_gpus:sum") == {"": 32.0}
    assert last(told, "sum(pod:gpufleet_gpus:sum") == {"": 24.0}
    assert last(told, "sum by (job_name) (pod:gpufleet_usd") == pytest.approx({"pretrain": 110.08, "finetune": 55.04})
    assert last(told, "sum by (team) (pod:gpufleet_usd") == pytest.approx({"language": 110.08, "vision": 55.04})
    assert last(told, "sum by (pool) (pool:gpufleet_usd") == pytest.approx({"h100": 165.12, "a10g": 16.0})
    assert last(told, 'sum(pool:gpufleet_usd:rate1h{environment=~".*", pool=~".*"}) -') == pytest.approx({"": 16.0})


def test_errors_are_of_the_node_that_has_them(told: dict[str, Any]) -> None:
    assert last(told, "sum by (node) (node:gpufleet_xid:last") == {"ip-10-0-0-2": 1.0}
    assert last(told, "sum by (node) (node:gpufleet_remapped_rows") == {"ip-10-0-0-2": 1.0}


@pytest.mark.parametrize(("xid", "errors"), [(0, {}), (79, {"debian": 1.0})])
def test_what_a_real_exporter_answered_is_of_its_node(xid: int, errors: dict[str, float]) -> None:
    """The answer of an RTX 3090, and the same with an injected XID, as the checks of nodes read it."""
    state = 'kube_node_labels{node="debian",label_gpufleet_dev_pool="lab"} 1\n'
    texts = {"kube-state-metrics": state, "dcgm-exporter": with_xid(xid) if xid else dcgm_metrics("rtx3090")}
    scrapes = [
        {"at": at, "text": text, "target": {"job": job, "instance": job}, "honor_labels": True}
        for at in range(scene.START, scene.END + 1, scene.STEP)
        for job, text in texts.items()
    ]
    rules = json.dumps(recording_rules("lab", {"lab": 0.4}))
    found = judge(dashboard(), rules, scrapes, queries(), TIMES)
    assert found["recorded"]["node:gpufleet_xid:last"]
    assert last(found, "sum by (node) (node:gpufleet_xid:last") == errors


def test_efa_is_counted_by_pool(told: dict[str, Any]) -> None:
    expected = 2 * 9e9 * (0.93 + 0.91 + 0.52)
    assert last(told, "sum by (pool) (node:gpufleet_efa_received") == pytest.approx({"h100": expected}, rel=1e-3)


@pytest.mark.parametrize("how", [{"honor_labels": False}, {"profiling": False}])
def test_it_holds_for_the_other_way_of_scraping_and_for_gpus_without_profiling(
    told: dict[str, Any], how: dict[str, bool]
) -> None:
    other = answers(**how)
    for query in ("sum by (job_name) (pod:gpufleet_power", "sum by (job_name) (pod:gpufleet_usd"):
        assert last(other, query) == last(told, query)
    activity = "avg by (job_name) (pod:gpufleet_active"
    assert last(other, activity) == pytest.approx(last(told, activity), abs=0.006)


def test_a_field_that_grafana_does_not_know_is_found(told: dict[str, Any]) -> None:
    """So that the schema is really asked, in the panel's options and in its queries too."""
    places = [lambda d: d, lambda d: d["panels"][0], lambda d: d["panels"][0]["options"],
              lambda d: d["panels"][6]["targets"][0], lambda d: d["templating"]["list"][1]]  # fmt: skip
    for place in places:
        wrong = copy.deepcopy(dashboard())
        place(wrong)["colour"] = "red"
        assert any("colour" in fault for fault in judge(wrong, "", [], [], TIMES)["dashboard"])


def test_a_rule_and_a_query_that_are_wrong_are_found() -> None:
    rules = json.dumps({"groups": [{"name": "g", "rules": [{"record": "a", "expr": "sum by (x) ("}]}]})
    found = judge(dashboard(), rules, [], ["rate(a)", "up"], TIMES)
    (fault,) = found["rules"]
    assert "could not parse expression" in fault
    assert "expected type range vector" in found["results"]["rate(a)"]["error"]
    assert found["results"]["up"] == {"error": "", "series": []}


def test_the_picture_of_the_guide_is_the_dashboard() -> None:
    """GPUFLEET_WRITE_GOLDEN=1 draws it anew."""
    times = (scene.START + 300, scene.END, scene.STEP)
    rules = json.dumps(recording_rules("aws-dev", scene.PRICES))
    found = judge(dashboard(), rules, scene.scrapes(), queries(), times)
    drawn = draw(dashboard(), found["results"], queries())
    if os.environ.get("GPUFLEET_WRITE_GOLDEN"):
        PICTURE.write_text(drawn, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == drawn
