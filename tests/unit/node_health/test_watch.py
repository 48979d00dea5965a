"""One look after another: what has to last, and a node that cannot be patched."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from gpufleet.node_health.cluster import ClusterError, PodCluster
from gpufleet.node_health.watch import NodeWatch


class Recorded:
    """A cluster without exporters, whose nodes have seven of eight GPUs; what was patched."""

    def __init__(self, age: timedelta) -> None:
        born = (datetime.now(UTC) - age).strftime("%Y-%m-%dT%H:%M:%SZ")
        status = {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "7"}}
        self.nodes = [
            {"metadata": {"name": name, "creationTimestamp": born}, "spec": {}, "status": status} for name in "ab"
        ]
        self.protected = ""
        self.patched: list[str] = []

    def listed(self, path: str) -> list[dict[str, Any]]:
        return self.nodes if path == "/api/v1/nodes" else []

    def patch(self, path: str, change: Mapping[str, Any]) -> None:
        if path.endswith(f"/{self.protected}"):
            raise ClusterError(f"PATCH {path}: 403: denied", 403)
        self.patched.append(path)

    def create(self, path: str, body: Mapping[str, Any]) -> None:
        assert path == "/api/v1/namespaces/default/events"


def watch(cluster: Recorded, lasting: float = 0, young: float = 0) -> NodeWatch:
    spans = timedelta(seconds=lasting), timedelta(seconds=young)
    return NodeWatch(cast("PodCluster", cluster), {}, 100, *spans, True)


@pytest.mark.parametrize(
    ("age", "lasting", "young", "bad"),
    [(1000, 0, 900, True), (800, 0, 900, False), (1000, 300, 900, False)],
)
def test_missing_gpus_count_on_nodes_that_had_time_and_only_if_they_stay_missing(
    age: int, lasting: int, young: int, bad: bool
) -> None:
    cluster = Recorded(timedelta(seconds=age))
    found = watch(cluster, lasting, young).look()
    assert [each.word for each in found] == (["cordon", "cordon"] if bad else [])
    assert cluster.patched == (["/api/v1/nodes/a", "/api/v1/nodes/b"] if bad else [])


def test_gpus_that_come_back_begin_anew() -> None:
    cluster = Recorded(timedelta(days=1))
    looks = watch(cluster, lasting=300)
    assert looks.look() == []
    since = dict(looks._first)
    assert {*since} == {("a", "fewer-gpu"), ("b", "fewer-gpu")}
    cluster.nodes[0]["status"] = {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "8"}}
    assert looks.look() == []
    assert looks._first == {("b", "fewer-gpu"): since["b", "fewer-gpu"]}


def test_node_that_cannot_be_patched_keeps_nobody_from_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = Recorded(timedelta(days=1))
    cluster.protected = "a"
    watch(cluster).look()
    assert cluster.patched == ["/api/v1/nodes/b"]
    assert "a: not patched: PATCH /api/v1/nodes/a: 403: denied" in capsys.readouterr().err
