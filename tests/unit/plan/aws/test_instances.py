"""Autoscaling groups and instances of a plan in the words of gpufleet.pools.eks_pool."""

import pytest

from gpufleet.plan.pools import PlannedPool
from tests.policies.one_pool import BY_TEMPLATE, GROUP, INSTANCE, SCALING, pool_of


def test_autoscaling_group_of_one_type() -> None:
    pool = pool_of(
        SCALING,
        {"vpcZoneIdentifiers": ["${a.id}"], "minSize": 1, "maxSize": 4, **BY_TEMPLATE},
        {"instanceType": "g5.xlarge"},
    )
    assert (pool.kind, pool.gpu, pool.unknown) == ("autoscaling-group", True, ())
    expected = {"types": ["g5.xlarge"], "zones": ["use1-az1"], "min": 1, "desired": 1, "max": 4}
    assert pool.intent == {**expected, "public_addresses": False}


def mixed(overrides: object, distribution: object = None, least: int = 0) -> PlannedPool:
    policy = {
        "launchTemplate": {
            "launchTemplateSpecification": {"launchTemplateId": "${template.id}"},
            "overrides": overrides,
        },
        "instancesDistribution": distribution,
    }
    inputs = {"vpcZoneIdentifiers": ["${a.id}"], "minSize": least, "maxSize": 8, "mixedInstancesPolicy": policy}
    return pool_of(SCALING, inputs, {"instanceType": "g5.xlarge"})


def test_mixed_group_has_the_types_of_its_overrides() -> None:
    pool = mixed([{"instanceType": "g5.xlarge"}, {"instanceType": "g6.xlarge"}])
    assert pool.intent["types"] == ["g5.xlarge", "g6.xlarge"]
    assert pool.most_by_type == {}


def test_weights_count_nodes_by_type() -> None:
    pool = mixed(
        [
            {"instanceType": "g5.xlarge", "weightedCapacity": "1"},
            {"instanceType": "g5.12xlarge", "weightedCapacity": "3"},
        ]
    )
    assert pool.most_by_type == {"g5.xlarge": 8, "g5.12xlarge": 3}
    assert pool.intent["max"] == 8


def test_weights_that_are_not_known_leave_no_count() -> None:
    pool = mixed([{"instanceType": "g5.xlarge", "weightedCapacity": "${a.id}"}])
    assert set(pool.unknown) == {"min", "max", "desired"}
    pool = mixed([{"instanceType": "${a.id}", "weightedCapacity": "2"}])
    assert set(pool.unknown) == {"types", "min", "max", "desired"}


def test_least_nodes_are_of_the_heaviest_type() -> None:
    overrides = [
        {"instanceType": f"g5.{size}", "weightedCapacity": weight}
        for size, weight in (("xlarge", "1"), ("12xlarge", "3"))
    ]
    assert mixed(overrides, least=4).intent["min"] == 2


def test_interfaces_made_elsewhere_are_unknown() -> None:
    pool = pool_of(
        INSTANCE,
        {"instanceType": "p4d.24xlarge", "subnetId": "${a.id}", "networkInterfaces": [{"networkInterfaceId": "eni-1"}]},
    )
    assert {"network", "public_addresses"} <= set(pool.unknown)
    assert pool.interfaces is None


@pytest.mark.parametrize(
    ("distribution", "word"),
    [
        ({"onDemandPercentageAboveBaseCapacity": 0}, "spot"),
        ({"onDemandPercentageAboveBaseCapacity": 0, "onDemandBaseCapacity": 1}, None),
        ({"onDemandPercentageAboveBaseCapacity": 50}, None),
    ],
)
def test_market_of_a_mixed_group(distribution: object, word: str | None) -> None:
    assert mixed([{"instanceType": "g5.xlarge"}], distribution).intent.get("capacity") == word


def test_choice_by_attributes_is_unknown() -> None:
    assert "types" in mixed([{"instanceRequirements": {"acceleratorCount": {"min": 1}}}]).unknown


def test_group_in_named_zones() -> None:
    pool = pool_of(
        SCALING,
        {"availabilityZones": ["us-east-1a", "us-east-1b"], "maxSize": 2, **BY_TEMPLATE},
        {"instanceType": "g5.xlarge"},
        {"use1-az1": "us-east-1a", "use1-az2": "us-east-1b"},
    )
    assert pool.intent["zones"] == ["use1-az1", "use1-az2"]


def test_instance() -> None:
    pool = pool_of(
        INSTANCE,
        {
            "instanceType": "p4d.24xlarge",
            "subnetId": "${a.id}",
            "placementGroup": "${ring.name}",
            "associatePublicIpAddress": True,
            "rootBlockDevice": {"volumeSize": 200},
        },
        ring={"type": GROUP, "inputs": {"strategy": "cluster"}},
    )
    assert (pool.kind, pool.unknown) == ("machine", ())
    assert pool.intent == {
        "types": ["p4d.24xlarge"],
        "zones": ["use1-az1"],
        "min": 1,
        "desired": 1,
        "max": 1,
        "placement": "create",
        "public_addresses": True,
        "disk_gib": 200,
    }


def test_instance_says_more_than_its_template() -> None:
    pool = pool_of(
        INSTANCE, {"instanceType": "g5.2xlarge", "subnetId": "${a.id}", **BY_TEMPLATE}, {"instanceType": "g5.xlarge"}
    )
    assert pool.intent["types"] == ["g5.2xlarge"]


def test_spot_request_and_instance_of_no_zone() -> None:
    pool = pool_of("aws:ec2/spotInstanceRequest:SpotInstanceRequest", {"instanceType": "g5.xlarge"})
    assert pool.intent["capacity"] == "spot"
    assert "zones" in pool.unknown
