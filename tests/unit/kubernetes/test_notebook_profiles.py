"""Profiles of notebooks: which there are, what they are called, and what a share of a node costs."""

import pytest

from gpufleet.kubernetes.notebook_profiles import plan_profiles, share_price

IMAGES = ["registry.example.com/notebook:1"]
A10G = {"gpu": "A10G", "gpus": 4, "usd_per_hour": 4.04}
NAMES = [
    ("no-pools", {}, ["No GPU"]),
    ("one-gpu", {"a": {"gpu": "A10G", "gpus": 1, "usd_per_hour": 1.006}}, ["No GPU", "1 x A10G, cloud, 1.01 USD/h"]),
    (
        "shares",
        {"a": A10G},
        ["No GPU", "1 x A10G, cloud, 1.01 USD/h", "2 x A10G, cloud, 2.02 USD/h", "4 x A10G, cloud, 4.04 USD/h"],
    ),
    (
        "six-gpus",
        {"a": {"gpu": "V100", "gpus": 6}},
        ["No GPU", *(f"{number} x V100, cloud, price unknown" for number in (1, 2, 4, 6))],
    ),
    (
        "own-servers-first",
        {"a": {"gpu": "A10G", "gpus": 1}, "v": {"gpu": "V100", "gpus": 2, "place": "onprem", "usd_per_hour": 0.5}},
        [
            "No GPU",
            "1 x V100, onprem, 0.25 USD/h",
            "2 x V100, onprem, 0.50 USD/h",
            "1 x A10G, cloud, price unknown",
        ],
    ),
    (
        "alike-pools-dearest-that-has-so-many",
        {"small": {"gpu": "A10G", "gpus": 1, "usd_per_hour": 1.5}, "large": A10G},
        ["No GPU", "1 x A10G, cloud, 1.50 USD/h", "2 x A10G, cloud, 2.02 USD/h", "4 x A10G, cloud, 4.04 USD/h"],
    ),
    (
        "alike-pools-one-price-unknown",
        {"small": {"gpu": "A10G", "gpus": 1}, "large": {"gpu": "A10G", "gpus": 2, "usd_per_hour": 2.0}},
        ["No GPU", "1 x A10G, cloud, price unknown", "2 x A10G, cloud, 2.00 USD/h"],
    ),
]


@pytest.mark.parametrize(("pools", "names"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_names(pools, names):
    profiles = plan_profiles(pools, IMAGES, {})
    assert [each["display_name"] for each in profiles] == names
    assert [each["display_name"] for each in profiles if each.get("default")] == ["No GPU"]
    slugs = [each["slug"] for each in profiles]
    assert len(set(slugs)) == len(slugs)
    assert all(slug == slug.lower() for slug in slugs)


def test_a_share_costs_its_part_of_the_node():
    assert share_price([A10G], 1) == pytest.approx(1.01)
    assert share_price([A10G], 4) == pytest.approx(4.04)
    assert share_price([], 1) is None


def test_what_a_profile_with_gpus_changes():
    taints = [{"key": "team", "value": "vision", "effect": "NO_SCHEDULE"}]
    pools = {"a": {**A10G, "place": "lab", "taints": taints}, "b": {"gpu": "A10G", "gpus": 2, "place": "lab"}}
    profile = plan_profiles(pools, IMAGES, {"cpus_per_gpu": 2, "memory_gib_per_gpu": 6})[2]
    assert profile["slug"] == "2-a10g-lab"
    assert profile["description"] == "A part of a node with 2 or 4 GPUs."
    assert profile["kubespawner_override"] == {
        "cpu_guarantee": 1.0,
        "cpu_limit": 4.0,
        "mem_guarantee": "4096M",
        "mem_limit": "12288M",
        "node_selector": {"gpufleet.dev/gpu": "A10G", "gpufleet.dev/place": "lab"},
        "tolerations": [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "team", "operator": "Exists", "effect": "NoSchedule"},
        ],
        "extra_resource_limits": {"nvidia.com/gpu": "2"},
        "extra_resource_guarantees": {"nvidia.com/gpu": "2"},
    }


def test_a_profile_without_gpu_asks_for_no_node_in_particular():
    override = plan_profiles({"a": A10G}, IMAGES, {})[0]["kubespawner_override"]
    assert override == {"cpu_guarantee": 0.5, "cpu_limit": 2.0, "mem_guarantee": "2048M", "mem_limit": "6144M"}


def test_several_images_are_a_choice_of_every_profile():
    profiles = plan_profiles({"a": A10G}, ["r/a:1", "r/b:2"], {})
    choices = {
        "image-1": {"display_name": "r/a:1", "default": True, "kubespawner_override": {"image": "r/a:1"}},
        "image-2": {"display_name": "r/b:2", "default": False, "kubespawner_override": {"image": "r/b:2"}},
    }
    assert {str(each["profile_options"]) for each in profiles} == {
        str({"image": {"display_name": "Image", "choices": choices}})
    }
