"""Which nodes are cordoned, recorded, let in again and left alone."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gpufleet.node_health.decisions import UNHEALTHY, decide, most_of, record_of, work_ends_before
from gpufleet.node_health.gpu_faults import NodeFault

NOW = datetime(2026, 11, 28, 5, tzinfo=UTC)
BUS = NodeFault("xid-79-gpu-0", "GPU 0: XID 79", "replace the node", True)
FEWER = NodeFault("fewer-gpu", "7 of 8 GPUs are usable", "look at the driver")


class Cluster:
    """Nodes of one pool, to which decisions are applied as the API server applies merge patches."""

    def __init__(self, count: int) -> None:
        self.nodes: dict[str, dict[str, Any]] = {
            f"n{number}": {
                "metadata": {"name": f"n{number}", "labels": {"gpufleet.dev/pool": "train"}, "annotations": {}},
                "spec": {},
                "status": {"nodeInfo": {"bootID": "one"}},
            }
            for number in range(count)
        }

    def look(self, found: dict[str, list[NodeFault]], later: int = 0, silent: Sequence[str] = ()) -> list[str]:
        """The words of what was decided, and done."""
        words = []
        for each in decide([*self.nodes.values()], found, NOW + timedelta(minutes=later), 20, silent):
            node = self.nodes[each.node]
            (text,) = each.patch["metadata"]["annotations"].values()
            node["metadata"]["annotations"].pop(UNHEALTHY, None)
            if text is not None:
                node["metadata"]["annotations"][UNHEALTHY] = text
            node["spec"] |= each.patch.get("spec", {})
            words.append(f"{each.node} {each.word}")
        return words

    def closed(self, name: str) -> bool:
        return bool(self.nodes[name]["spec"].get("unschedulable"))

    def record(self, name: str) -> dict[str, Any]:
        return record_of(self.nodes[name]) or {}


def test_bad_node_is_cordoned_once_with_reason_and_time() -> None:
    cluster = Cluster(10)
    assert cluster.look({"n3": [BUS]}) == ["n3 cordon"]
    assert cluster.closed("n3")
    assert cluster.record("n3") == {
        "since": "2026-11-28T05:00:00+00:00",
        "faults": ["xid-79-gpu-0"],
        "reason": "GPU 0: XID 79",
        "fix": "replace the node",
        "cordoned": True,
        "cordoned_at": "2026-11-28T05:00:00+00:00",
        "boot": "one",
    }
    assert cluster.look({"n3": [BUS]}, 1) == []
    assert cluster.look({"n3": [BUS, FEWER]}, 2) == ["n3 record"]
    assert cluster.record("n3")["since"] == "2026-11-28T05:00:00+00:00"


def test_healthy_nodes_and_nodes_that_somebody_else_cordoned_are_left_alone() -> None:
    cluster = Cluster(2)
    cluster.nodes["n0"]["spec"]["unschedulable"] = True
    assert cluster.look({}) == []
    assert cluster.look({"n0": [BUS]}) == ["n0 record"]
    assert cluster.record("n0")["cordoned"] is False
    cluster.nodes["n0"]["status"]["nodeInfo"]["bootID"] = "two"
    assert cluster.look({}) == ["n0 forget"]
    assert cluster.closed("n0"), "it was somebody else's cordon"
    assert cluster.record("n0") == {}


@pytest.mark.parametrize(("nodes", "most"), [(1, 1), (4, 1), (5, 1), (9, 1), (10, 2), (512, 102)])
def test_bound(nodes: int, most: int) -> None:
    assert most_of(nodes, 20) == most


def test_bound_is_kept_and_said_and_a_place_that_becomes_free_is_used() -> None:
    cluster = Cluster(5)
    found = {"n0": [BUS], "n1": [BUS]}
    assert cluster.look(found) == ["n0 cordon", "n1 record"]
    assert not cluster.closed("n1")
    assert cluster.record("n1")["held"] == "not cordoned: already 1 of 5 nodes of train are"
    assert cluster.look(found, 1) == []
    del cluster.nodes["n0"]
    assert cluster.look(found, 2) == ["n1 cordon"]
    assert "held" not in cluster.record("n1")
    assert cluster.record("n1")["since"] == "2026-11-28T05:00:00+00:00"


def test_node_that_somebody_uncordons_is_not_cordoned_again_for_the_same_fault() -> None:
    cluster = Cluster(5)
    cluster.look({"n0": [BUS]})
    cluster.nodes["n0"]["spec"]["unschedulable"] = None
    assert cluster.look({"n0": [BUS]}) == ["n0 accept"]
    assert cluster.look({"n0": [BUS]}) == []
    assert not cluster.closed("n0")
    # Another fault is news; so is the same one after it was gone.
    assert cluster.look({"n0": [BUS, FEWER]}) == ["n0 cordon"]
    assert cluster.record("n0")["faults"] == ["fewer-gpu"]
    cluster.nodes["n0"]["spec"]["unschedulable"] = None
    cluster.look({"n0": [BUS, FEWER]})
    assert cluster.look({}) == ["n0 forget"]
    assert cluster.look({"n0": [BUS]}) == ["n0 cordon"]


def test_node_is_let_in_again_after_a_reboot_without_faults_only() -> None:
    cluster = Cluster(5)
    cluster.look({"n0": [BUS]})
    assert cluster.look({}) == [], "the exporter has started again, nothing more"
    cluster.nodes["n0"]["status"]["nodeInfo"]["bootID"] = "two"
    assert cluster.look({}, silent=["n0"]) == []
    assert cluster.look({"n0": [FEWER]}) == ["n0 record"]
    cluster.nodes["n0"]["status"]["nodeInfo"]["bootID"] = "three"
    assert cluster.look({}) == ["n0 release"]
    assert not cluster.closed("n0")
    assert cluster.record("n0") == {}


def test_what_ran_when_the_node_was_cordoned_ends_and_nothing_else() -> None:
    cluster = Cluster(5)
    assert work_ends_before(cluster.nodes["n0"], [BUS]) is None
    cluster.look({"n0": [BUS], "n1": [FEWER]})
    assert work_ends_before(cluster.nodes["n0"], [BUS]) == NOW
    assert work_ends_before(cluster.nodes["n0"], []) is None
    assert work_ends_before(cluster.nodes["n1"], [FEWER]) is None
    cluster.nodes["n0"]["spec"]["unschedulable"] = False
    assert work_ends_before(cluster.nodes["n0"], [BUS]) is None


@pytest.mark.parametrize(
    "text", ["", "yes", "[]", "{", json.dumps({"faults": 7}), json.dumps({"accepted": [{}]}), "[" * 100_000]
)
def test_annotation_of_somebody_else_is_no_record(text: str) -> None:
    cluster = Cluster(1)
    cluster.nodes["n0"]["metadata"]["annotations"][UNHEALTHY] = text
    assert record_of(cluster.nodes["n0"]) is None
    assert cluster.look({"n0": [BUS]}) == ["n0 cordon"]
