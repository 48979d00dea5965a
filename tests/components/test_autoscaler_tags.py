"""Labels, taints and autoscaler tags."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpufleet.aws.autoscaler_tags import resource_tags, tag_name, taint_tags
from gpufleet.catalog import aws
from gpufleet.pools.node_labels import GPU_TAINT, kubernetes_taints, node_labels

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


@pytest.mark.parametrize(
    ("types", "efa", "expected"),
    [
        (["g5.8xlarge"], False, {}),
        (["g5.8xlarge", "g5.16xlarge"], False, {}),
        (["g5.48xlarge", "g5.8xlarge"], False, {"nvidia.com/gpu": "1"}),
        (["p5.48xlarge"], False, {}),
        (["p5.48xlarge"], True, {"vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "10256Mi"}),
    ],
)
def test_tags_tell_what_the_type_does_not(types: list[str], efa: bool, expected: dict[str, str]) -> None:
    prefix = "k8s.io/cluster-autoscaler/node-template/resources"
    tags = resource_tags([aws().types[each] for each in types], efa=efa)
    assert tags == {f"{prefix}/{name}": amount for name, amount in expected.items()}


def test_tags_tell_the_taints_that_eks_does_not() -> None:
    empty = {"key": "empty", "value": "", "effect": "NO_EXECUTE"}
    assert taint_tags([GPU_TAINT]) == {}
    assert taint_tags([GPU_TAINT, {"key": "k", "effect": "NO_SCHEDULE"}, empty]) == {
        "k8s.io/cluster-autoscaler/node-template/taint/k": ":NoSchedule",
        "k8s.io/cluster-autoscaler/node-template/taint/empty": ":NoExecute",
    }


def test_tag_names_are_short_and_tell_the_pool() -> None:
    key = "k8s.io/cluster-autoscaler/node-template/taint/nvidia.com/gpu"
    assert tag_name("trainers", key) == "trainers-taint/nvidia.com/gpu"
