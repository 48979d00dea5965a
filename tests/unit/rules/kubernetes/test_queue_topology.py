"""Cases of gpufleet.rules.kubernetes.queue_topology."""

import pytest

from gpufleet.catalog.network_layers import network_layers
from gpufleet.rules.kubernetes.queue_topology import (
    layers_labelled,
    level_between,
    level_count,
    nodes_stay,
    validate_topology,
    validate_topology_pool,
)

LAYERS = [f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3)]
CASES = {
    level_between: [
        ("rack", {"label": "example.com/rack"}, "pass", ""),
        (
            "zone",
            {"label": "gpufleet.dev/zone-id"},
            "fail",
            "trainers: topology_levels=gpufleet.dev/zone-id: is a level of every topology already; leave it out "
            "[any-queue-topology-level]",
        ),
    ],
    level_count: [
        ("most", {"count": 14}, "pass", ""),
        (
            "more",
            {"count": 15},
            "fail",
            "trainers: topology_levels=15: is more levels than the 14 that Kueue allows; leave some out "
            "[any-queue-topology-depth]",
        ),
    ],
    nodes_stay: [
        ("all", {"least": 4, "most": 4}, "pass", ""),
        (
            "fewer",
            {"least": 0, "most": 4},
            "fail",
            "trainers: min=0: is less than max=4, and a queue with a topology starts no node; set min=4, or leave "
            "gpufleet:queue.topology_levels out [any-queue-topology-nodes]",
        ),
    ],
    layers_labelled: [
        ("all", {"types": ("p5.48xlarge",), "layer": 3, "layers": {"p5.48xlarge": 3}}, "pass", ""),
        (
            "none",
            {"types": ("p5.48xlarge", "g5.xlarge"), "layer": 1, "layers": {"p5.48xlarge": 3}},
            "fail",
            "trainers: types=[p5.48xlarge, g5.xlarge]: have nodes without the label "
            "topology.k8s.aws/network-node-layer-1 (g5.xlarge); leave topology.k8s.aws/network-node-layer-1 out of "
            "gpufleet:queue.topology_levels, or use another type [aws-queue-topology-types]",
        ),
        (
            "fourth",
            {"types": ("p5.48xlarge",), "layer": 4, "layers": {"p5.48xlarge": 3}},
            "fail",
            "trainers: types=[p5.48xlarge]: have nodes without the label topology.k8s.aws/network-node-layer-4 "
            "(p5.48xlarge); leave topology.k8s.aws/network-node-layer-4 out of gpufleet:queue.topology_levels, or use "
            "another type [aws-queue-topology-types]",
        ),
    ],
}


def test_case(case):
    case.check()


@pytest.mark.parametrize(
    ("levels", "rules"),
    [
        ([], []),
        (LAYERS, []),
        ([*LAYERS, "kubernetes.io/hostname"], ["any-queue-topology-level"]),
        (["example.com/rack", "example.com/rack"], ["any-argument-distinct"]),
        (["no label"], ["any-label-form"]),
    ],
)
def test_levels(levels: list[str], rules: list[str]) -> None:
    assert [each.rule for each in validate_topology({"topology_levels": levels}) if each.rejects] == rules


@pytest.mark.parametrize(
    ("pool", "rules"),
    [
        ({"types": ["p5.48xlarge"], "min": 4, "max": 4}, []),
        ({"types": ["p6-b200.48xlarge"], "min": 4, "max": 4}, []),
        ({"types": ["p5.48xlarge"], "max": 4}, ["any-queue-topology-nodes"]),
        ({"types": ["g5.12xlarge"], "min": 4, "max": 4}, ["aws-queue-topology-types"] * 3),
    ],
)
def test_pools(pool: dict[str, object], rules: list[str]) -> None:
    findings = validate_topology_pool(pool, LAYERS, network_layers())
    assert [each.rule for each in findings if each.rejects] == rules


def test_racks_of_any_cloud_need_no_type() -> None:
    pool = {"types": ["Standard_ND96isr_H100_v5"], "min": 2, "max": 2}
    assert [each.rule for each in validate_topology_pool(pool, ["example.com/rack"], {}) if each.rejects] == []
