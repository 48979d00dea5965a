"""The validation of pools on Azure: which rules their arguments break."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.rules import Status
from gpufleet.rules.azure.pool_arguments import validate_azure_pool_arguments

POOL = {"types": ["Standard_NC24ads_A100_v4"], "min": 0, "max": 4}
RING = {"types": ["Standard_ND96isr_H100_v5"], "min": 0, "max": 4, "network": "infiniband"}


def not_passed(pool, region="eastus", **changes):
    findings = validate_azure_pool_arguments(pool, region, **changes)
    return sorted({finding.rule for finding in findings if finding.status is not Status.PASS})


def test_a_legal_pool_passes_every_rule():
    assert not_passed(POOL) == []
    assert not_passed(RING) == []


@pytest.mark.parametrize(
    ("pool", "rules"),
    [
        (POOL | {"types": ["Standard_NC6"]}, ["azure-size-current"]),
        (POOL | {"types": ["Standard_NC24ads_A100v4"]}, ["azure-size-known"]),
        (POOL | {"network": "infiniband"}, ["azure-infiniband-supported"]),
        (POOL | {"network": "efa"}, ["any-argument-word"]),
        (POOL | {"capacity": "capacity-block"}, ["any-argument-word"]),
        (POOL | {"placement": "near"}, ["any-argument-word"]),
        (POOL | {"min": -1, "max": -1}, ["any-argument-least"]),
        (POOL | {"min": 5}, ["any-count-idle", "any-count-min-max"]),
        (POOL | {"min": 1}, ["any-count-idle"]),
        (POOL | {"desired": 5}, ["any-count-desired"]),
        (POOL | {"max": 0}, []),
        (POOL | {"types": ["Standard_NC24ads_A100_v4", "Standard_NC4as_T4_v3"]}, ["any-pool-same-gpu"]),
        (POOL | {"zones": ["eastus-1"]}, ["azure-size-in-zone"]),
        (RING | {"zones": ["eastus-1"], "placement": "create"}, ["azure-size-in-zone"]),
        (
            RING | {"zones": ["eastus-1", "eastus-2"]},
            ["azure-infiniband-one-zone", "azure-size-in-zone", "azure-size-one-zone"],
        ),
        (
            POOL | {"zones": ["eastus-1", "eastus-2"], "placement": "existing"},
            ["any-placement-one-zone", "azure-size-in-zone"],
        ),
        (POOL | {"zones": ["auto"], "placement": "create"}, ["azure-placement-no-auto-zones"]),
    ],
)
def test_mistakes(pool, rules):
    assert not_passed(pool) == rules


def test_a_region_that_is_known_for_another_size_only_is_not_verified():
    assert not_passed(POOL, "nowhere") == ["azure-size-in-region"]


def test_a_region_that_is_not_known_is_left_to_the_caller():
    assert not_passed(POOL, None) == []


@pytest.mark.parametrize(
    ("word", "rule"),
    [
        ("placement", "any-placement-one-zone"),
        ("network", "azure-infiniband-one-zone"),
        ("min", "any-count-idle"),
        ("desired", "any-count-desired"),
        ("max", "azure-size-one-zone"),
    ],
)
def test_rules_on_words_that_are_not_known_are_not_judged(word, rule):
    pool = RING | {"placement": "create", "zones": ["eastus-1", "eastus-2"], "min": 1, "desired": 9}
    assert rule in not_passed(pool)
    assert rule not in not_passed(pool, unknown=(word,))


def test_a_pool_without_gpus_is_judged_by_its_numbers_alone():
    assert not_passed({"types": ["Standard_D4s_v5"], "min": 2, "max": 3}, gpu=False) == []
    assert not_passed({"types": ["Standard_D4s_v5"], "min": 4, "max": 3}, gpu=False) == ["any-count-min-max"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["auto", "create", "spot"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(["types", "min", "desired", "max", "zones", "placement", "capacity"]), VALUES))
def test_no_values_raise(pool):
    for finding in validate_azure_pool_arguments(pool, "eastus"):
        assert "\n" not in finding.line("trainers")
