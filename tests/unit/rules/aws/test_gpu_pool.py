"""The validation of EKS pools: which rules a pool breaks, and that no value makes it raise."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpufleet.catalog import aws
from gpufleet.pools.eks_pool import EksPool
from gpufleet.rules import Severity, Status, validate_pool

DEV = {
    "types": ["g5.8xlarge"],
    "max": 2,
    "zones": ["use1-az1"],
    "placement": "create",
    "network": "efa",
}
PROD = {
    "types": ["p5.48xlarge"],
    "max": 16,
    "zones": ["use1-az2"],
    "capacity": "reservation",
    "reservation_id": "cr-0123456789abcdef0",
    "network": "efa",
}
SMALL_JOBS = {
    "types": ["g6e.xlarge", "g6e.2xlarge"],
    "max": 8,
    "zones": ["use1-az1", "use1-az2"],
    "capacity": "spot",
}
RESERVATION = {"capacity": "reservation", "reservation_id": "cr-0123456789abcdef0"}
BLOCK = {**RESERVATION, "capacity": "capacity-block"}


def unsuitable(pool, region="us-east-1"):
    return sorted({finding.rule for finding in validate_pool(pool, region) if finding.rejects})


def doubtful(pool, region="us-east-1"):
    """Rules that are broken without unsuitable, and rules that could not be checked."""
    findings = validate_pool(pool, region)
    return sorted({each.rule for each in findings if each.status is not Status.PASS and not each.rejects})


@pytest.mark.parametrize("pool", [DEV, PROD, SMALL_JOBS])
def test_legal_pools_pass_every_rule(pool):
    assert {finding.status for finding in validate_pool(pool, "us-east-1")} == {Status.PASS}


def test_number_of_nodes_changes_no_finding():
    assert validate_pool(PROD | {"max": 2}, "us-east-1") == validate_pool(PROD | {"max": 512}, "us-east-1")


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"zones": ["use1-az1", "use1-az2"]}, ["any-placement-one-zone", "aws-efa-one-zone"]),
        ({"types": ["g5.4xlarge"]}, ["aws-efa-supported"]),
        ({"types": ["g5.8xl"]}, ["aws-type-known"]),
        ({"types": ["p3.16xlarge"], "network": "plain"}, ["aws-type-current"]),
        ({"types": ["p5e.48xlarge"]}, ["aws-type-in-region"]),
        ({"types": ["p4de.24xlarge"]}, ["aws-type-in-zone"]),
        ({"types": []}, ["any-argument-not-empty"]),
        ({"zones": []}, ["any-argument-not-empty"]),
        ({"zones": ["use1-az1", "use1-az1"]}, ["any-argument-distinct", "any-placement-one-zone", "aws-efa-one-zone"]),
        ({"zones": ["us-east-1a"]}, ["aws-zone-known"]),
        ({"zones": ["usw2-az1"]}, ["aws-zone-known"]),
        ({"types": ["g6e.24xlarge", "g6e.48xlarge"]}, ["aws-efa-same-cards"]),
        ({"types": ["g5.8xlarge", "g5g.16xlarge"], "network": "plain"}, ["aws-image-one-architecture"]),
        ({"types": ["p5.48xlarge"], "public_addresses": True}, ["aws-efa-private"]),
        ({"min": 3}, ["any-count-min-max"]),
        ({"min": 1, "desired": 0}, ["any-count-desired"]),
        ({"desired": 3}, ["any-count-desired"]),
        ({"max": 0}, ["any-argument-least"]),
        ({"min": -1}, ["any-argument-least"]),
        ({"max": 2.5}, ["any-argument-kind"]),
        ({"max": "2"}, ["any-argument-kind"]),
        ({"types": "g5.8xlarge"}, ["any-argument-kind"]),
        ({"maximum": 3}, ["any-argument-known"]),
        ({"placement": "cluster"}, ["any-argument-word"]),
        ({"capacity": "ondemand"}, ["any-argument-word"]),
        ({"network": "infiniband"}, ["any-argument-word"]),
        ({"taints": [{"key": "gpu", "effect": "NoSchedule"}]}, ["any-argument-word"]),
        ({"capacity": "reservation", "placement": "none"}, ["any-capacity-id-given"]),
        (RESERVATION, ["aws-placement-no-block"]),
        ({"reservation_id": "cr-0123456789abcdef0"}, ["any-capacity-id-given"]),
        (RESERVATION | {"placement": "none", "reservation_id": "cr-1"}, ["aws-capacity-id-form"]),
        (BLOCK | {"types": ["p5.48xlarge"]}, ["aws-placement-no-block"]),
        (BLOCK | {"placement": "none"}, ["aws-capacity-block-sold"]),
        (
            BLOCK | {"types": ["p5.48xlarge", "p5en.48xlarge"], "zones": ["use1-az2"], "placement": "none"},
            ["aws-capacity-one-place", "aws-efa-same-cards"],
        ),
        (
            RESERVATION | {"zones": ["use1-az1", "use1-az2"], "placement": "none", "network": "plain"},
            ["aws-capacity-one-place"],
        ),
        ({"placement": "existing"}, ["any-placement-group-name"]),
        ({"placement_group": "ring"}, ["any-placement-group-name"]),
        ({"image": "al2"}, ["aws-image-known"]),
        ({"disk_gib": 10}, ["aws-image-disk"]),
        ({"disk_throughput": 3000}, ["aws-disk-throughput"]),
        ({"disk_iops": 3000, "disk_throughput": 1000}, ["aws-disk-throughput"]),
        ({"disk_iops": 90000}, ["aws-disk-iops"]),
        ({"tags": {"aws:owner": "me"}}, ["any-argument-known", "aws-tag-key"]),
    ],
)
def test_mistake_is_refused_by_its_rule(change, rules):
    assert unsuitable(DEV | change) == rules


def test_missing_arguments_are_refused():
    assert [finding.argument for finding in validate_pool({}, "us-east-1") if finding.rejects] == [
        "types",
        "max",
        "zones",
    ]


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"min": 1}, ["any-count-idle"]),
        ({"placement": "none"}, ["aws-efa-near"]),
        ({"public_addresses": True}, ["any-pool-private"]),
        ({"types": ["g5.8xlarge", "g5.16xlarge"]}, ["aws-placement-same-type"]),
        ({"types": ["g5.8xlarge", "g6.8xlarge"]}, ["any-pool-same-gpu", "aws-placement-same-type"]),
        ({"capacity": "spot"}, ["any-capacity-spot-choice"]),
        (RESERVATION | {"placement": "existing", "placement_group": "ring"}, ["aws-placement-of-reservation"]),
        ({"image": "ami-0123456789abcdef0", "disk_gib": 8}, ["aws-image-disk"]),
    ],
)
def test_doubtful_pool_is_accepted_with_a_word(change, rules):
    assert unsuitable(DEV | change) == []
    assert doubtful(DEV | change) == rules


def test_all_mistakes_are_reported_at_once():
    pool = {
        "types": ["g5.xlarge", "p9.xlarge"],
        "min": 3,
        "max": 2,
        "zones": ["use1-az1", "us-east-1b"],
        "placement": "create",
        "network": "efa",
        "reservation_id": "mine",
    }
    assert unsuitable(pool) == [
        "any-capacity-id-given",
        "any-count-min-max",
        "any-placement-one-zone",
        "aws-capacity-id-form",
        "aws-efa-one-zone",
        "aws-efa-supported",
        "aws-type-known",
        "aws-zone-known",
    ]


def test_region_without_facts_is_unverified_and_never_passes():
    pool = DEV | {"zones": ["mxc1-az1"]}
    assert unsuitable(pool, "mx-central-1") == []
    assert doubtful(pool, "mx-central-1") == ["aws-region-known", "aws-type-in-region", "aws-zone-known"]


def test_first_card_without_efa_is_another_layout():
    pool = PROD | {"types": ["p6-b300.48xlarge", "p5en.48xlarge"]}
    finding = next(each for each in validate_pool(pool, "us-east-1") if each.rule == "aws-efa-same-cards")
    assert finding.problem == (
        "has types with 16 EFA interfaces and 16 EFA interfaces after a plain one in one launch template"
    )


def test_suggested_efa_types_are_the_family_from_small_to_large():
    finding = next(
        each
        for each in validate_pool(DEV | {"types": ["g6e.4xlarge"]}, "us-east-1")
        if each.rule == "aws-efa-supported"
    )
    assert finding.fix == (
        "use g6e.8xlarge, g6e.12xlarge, g6e.16xlarge, g6e.24xlarge or g6e.48xlarge, or set network=plain"
    )


WEIRD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.builds(object),
    lambda of: st.lists(of, max_size=3) | st.dictionaries(st.text(), of, max_size=3) | st.tuples(of, of),
    max_leaves=4,
)
KNOWN = {
    "types": st.lists(st.sampled_from([*aws().types, "p9.large"]), max_size=3),
    "zones": st.lists(st.sampled_from(["use1-az1", "use1-az3", "us-east-1a", "usw2-az1", "?"]), max_size=3),
    "placement": st.sampled_from(["none", "create", "existing", "?"]),
    "capacity": st.sampled_from(["on-demand", "spot", "reservation", "capacity-block", "?"]),
    "network": st.sampled_from(["plain", "efa", "?"]),
    "min": st.integers(-1, 3),
    "desired": st.integers(-1, 3),
    "max": st.integers(-1, 3),
    "public_addresses": st.booleans(),
}


@settings(max_examples=150, deadline=None)
@given(
    pool=st.fixed_dictionaries({}, optional={key: KNOWN.get(key, WEIRD) | WEIRD for key in EksPool.__annotations__}),
    stray=st.dictionaries(st.text(), WEIRD, max_size=1),
    region=st.sampled_from(["us-east-1", "us-west-2", "mx-central-1", "", "?"]),
)
def test_judge_pool_never_raises(pool, stray, region):
    for finding in validate_pool(stray | pool, region):
        line = finding.line("trainers")
        assert line.isprintable()
        assert finding.severity in Severity
