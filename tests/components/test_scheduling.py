"""Labels, taints and autoscaler tags."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.scheduling import node_template_tags, tag_name
from gpufleet.node_labels import GPU_TAINT, kubernetes_taints, node_labels

WORDS = {"capacity": "spot", "placement": "none", "network": "plain"}


def test_labels_of_one_type_in_one_zone() -> None:
    assert node_labels("trainers", ["H100"], ["use1-az1"], WORDS) == {
        "gpufleet.dev/capacity": "spot",
        "gpufleet.dev/gpu": "H100",
        "gpufleet.dev/network": "plain",
        "gpufleet.dev/place": "cloud",
        "gpufleet.dev/placement": "none",
        "gpufleet.dev/pool": "trainers",
        "gpufleet.dev/zone-id": "use1-az1",
        "nvidia.com/gpu.present": "true",
    }


@pytest.mark.parametrize(
    ("models", "zones", "absent"),
    [
        (["H100", "H200"], ["use1-az1"], "gpufleet.dev/gpu"),
        (["H100", "H100"], ["use1-az1", "use1-az2"], "gpufleet.dev/zone-id"),
    ],
)
def test_labels_claim_nothing_that_differs_between_nodes(models: list[str], zones: list[str], absent: str) -> None:
    all_labels = node_labels("trainers", ["H100"], ["use1-az1"], WORDS)
    assert set(all_labels) - set(node_labels("trainers", models, zones, WORDS)) == {absent}


@given(pool=st.text(min_size=1), model=st.text(min_size=1))
def test_label_values_are_legal_in_kubernetes(pool: str, model: str) -> None:
    legal = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")
    for value in node_labels(pool, [model], ["use1-az1"], WORDS).values():
        assert legal.fullmatch(value)
        assert len(value) <= 63


@pytest.mark.parametrize(
    ("effect", "expected"),
    [("NO_SCHEDULE", "v:NoSchedule"), ("NO_EXECUTE", "v:NoExecute"), ("PREFER_NO_SCHEDULE", "v:PreferNoSchedule")],
)
def test_taints_in_kubernetes_words(effect: str, expected: str) -> None:
    assert kubernetes_taints([{"key": "k", "value": "v", "effect": effect}]) == {"k": expected}


def test_taint_without_value() -> None:
    assert kubernetes_taints([{"key": "k", "effect": "NO_EXECUTE"}]) == {"k": ":NoExecute"}


def test_template_tags_for_labels_taints_and_resources() -> None:
    taints = kubernetes_taints([GPU_TAINT])
    assert node_template_tags(
        {"gpufleet.dev/pool": "p"}, taints, {"nvidia.com/gpu": 8, "vpc.amazonaws.com/efa": 0}
    ) == {
        "k8s.io/cluster-autoscaler/node-template/label/gpufleet.dev/pool": "p",
        "k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu": "present:NoSchedule",
        "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu": "8",
    }


def test_tag_names_are_short_and_tell_the_pool() -> None:
    key = "k8s.io/cluster-autoscaler/node-template/resources/nvidia.com/gpu"
    assert tag_name("trainers", key) == "trainers-resources/nvidia.com/gpu"
