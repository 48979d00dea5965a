"""EKS node groups of a plan in the words of gpufleet.pools.eks_pool."""

from typing import Any

import pytest

from gpufleet.plan.pools import PlannedPool
from tests.policies.one_pool import BY_TEMPLATE, GROUP, NODE_GROUP, pool_of


def node_group(template: dict[str, Any] | None = None, **inputs: Any) -> PlannedPool:
    given = {"subnetIds": ["${a.id}"], "instanceTypes": ["g5.xlarge"], **(BY_TEMPLATE if template is not None else {})}
    return pool_of(NODE_GROUP, given | inputs, template)


def test_plain_node_group() -> None:
    pool = node_group(
        scalingConfig={"minSize": 1, "desiredSize": 2.0, "maxSize": 3}, amiType="BOTTLEROCKET_x86_64_NVIDIA"
    )
    assert (pool.cloud, pool.kind, pool.region, pool.gpu, pool.interfaces) == (
        "aws",
        "node-group",
        "us-east-1",
        True,
        1,
    )
    assert pool.resource.name == "pool"
    assert pool.unknown == ()
    assert pool.intent == {
        "types": ["g5.xlarge"],
        "zones": ["use1-az1"],
        "min": 1,
        "desired": 2,
        "max": 3,
        "public_addresses": False,
        "disk_gib": 20,
        "image": "bottlerocket",
    }


def test_node_group_without_types_has_the_one_that_eks_chooses() -> None:
    pool = node_group(instanceTypes=None)
    assert pool.intent["types"] == ["t3.medium"]
    assert pool.gpu is False


def test_template_tells_type_disk_and_network() -> None:
    pool = node_group(
        {
            "instanceType": "p4d.24xlarge",
            "imageId": "ami-0123456789abcdef0",
            "blockDeviceMappings": [{"ebs": {"volumeSize": 4}}, {"ebs": {"volumeSize": 500}}, {}],
            "networkInterfaces": [{"interfaceType": "efa"}, {"interfaceType": "efa-only"}],
        },
        instanceTypes=None,
        amiType="CUSTOM",
    )
    assert pool.intent == {
        "types": ["p4d.24xlarge"],
        "zones": ["use1-az1"],
        "public_addresses": False,
        "disk_gib": 500,
        "network": "efa",
        "image": "ami-0123456789abcdef0",
    }
    assert pool.interfaces == 2


def test_template_of_somebody_else_tells_nothing() -> None:
    pool = node_group(launchTemplate={"id": "lt-0123456789abcdef0", "version": "1"})
    assert set(pool.unknown) == {
        *("placement", "capacity", "reservation_id", "network", "public_addresses", "disk_gib", "image"),
    }
    assert not set(pool.unknown) & set(pool.intent)


def test_template_is_found_by_its_name() -> None:
    pool = pool_of(
        NODE_GROUP,
        {"subnetIds": ["${a.id}"], "launchTemplate": {"name": "mine", "version": "1"}},
        {"name": "mine", "instanceType": "g5.xlarge"},
    )
    assert pool.intent["types"] == ["g5.xlarge"]


@pytest.mark.parametrize(
    ("subnets", "zones", "places"),
    [
        (["${a.id}"], ["use1-az1"], ["use1-az1"]),
        (["${b.id}", "${a.id}"], ["use1-az1", "use1-az2"], ["use1-az1", "use1-az2"]),
        (["${a.id}", "${again.id}"], ["use1-az1"], ["use1-az1"]),
        (["${named.id}"], None, ["us-east-1c"]),
        (["${named.id}", "${also-named.id}"], None, ["us-east-1c", "us-east-1d"]),
        (["${a.id}", "${named.id}"], None, ["use1-az1"]),
        (["${a.id}", "${b.id}", "subnet-1"], None, ["use1-az1", "use1-az2"]),
        (["${a.id}", "${anywhere.id}"], None, ["use1-az1"]),
        (["subnet-1"], None, []),
        ("${a.id}", None, []),
        ([], None, []),
    ],
)
def test_zones_of_subnets(subnets: object, zones: list[str] | None, places: list[str]) -> None:
    pool = pool_of(NODE_GROUP, {"subnetIds": subnets, "instanceTypes": ["g5.xlarge"]})
    assert pool.intent.get("zones") == zones
    assert ("zones" in pool.unknown) is (zones is None)
    assert list(pool.places) == places


def test_zone_names_of_the_account() -> None:
    names = {"use1-az4": "us-east-1c"}
    inputs = {"subnetIds": ["${a.id}", "${named.id}"], "instanceTypes": ["g5.xlarge"]}
    assert pool_of(NODE_GROUP, inputs, zone_names=names).intent["zones"] == ["use1-az1", "use1-az4"]


@pytest.mark.parametrize(
    ("inputs", "region", "found"),
    [
        ({"region": "eu-west-1", "subnetIds": ["${a.id}"]}, "us-west-2", "eu-west-1"),
        ({"subnetIds": ["${a.id}"]}, "us-west-2", "us-west-2"),
        ({"subnetIds": ["${a.id}"]}, None, "us-east-1"),
        ({"subnetIds": ["${named.id}"]}, None, "us-east-1"),
        ({"subnetIds": ["subnet-1"]}, None, None),
    ],
)
def test_region(inputs: dict[str, Any], region: str | None, found: str | None) -> None:
    assert pool_of(NODE_GROUP, inputs, region=region).region == found


@pytest.mark.parametrize(
    ("strategy", "name", "word", "unknown"),
    [
        ("cluster", "${ring.name}", "create", False),
        ("spread", "${ring.name}", None, False),
        ("cluster", "ring", "create", False),
        ("cluster", "somebody-elses", None, True),
        ("${a.id}", "${ring.name}", None, True),
    ],
)
def test_placement(strategy: str, name: str, word: str | None, unknown: bool) -> None:
    ring = {"type": GROUP, "inputs": {"name": "ring", "strategy": strategy}}
    pool = pool_of(NODE_GROUP, {"subnetIds": ["${a.id}"], **BY_TEMPLATE}, {"placement": {"groupName": name}}, ring=ring)
    assert pool.intent.get("placement") == word
    assert ("placement" in pool.unknown) is unknown


TARGET = {"capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcdef0"}}


@pytest.mark.parametrize(
    ("template", "market", "words", "unknown"),
    [
        ({}, "ON_DEMAND", {}, set()),
        ({}, "SPOT", {"capacity": "spot"}, set()),
        ({"capacityReservationSpecification": {"capacityReservationPreference": "open"}}, None, {}, set()),
        (
            {"capacityReservationSpecification": TARGET},
            "ON_DEMAND",
            {"capacity": "reservation", "reservation_id": "cr-0123456789abcdef0"},
            set(),
        ),
        (
            {"capacityReservationSpecification": TARGET, "instanceMarketOptions": {"marketType": "capacity-block"}},
            "CAPACITY_BLOCK",
            {"capacity": "capacity-block", "reservation_id": "cr-0123456789abcdef0"},
            set(),
        ),
        ({}, "CAPACITY_BLOCK", {"capacity": "capacity-block"}, set()),
        (
            {
                "capacityReservationSpecification": {
                    "capacityReservationTarget": {"capacityReservationResourceGroupArn": "arn:aws:resource-groups:x"}
                }
            },
            None,
            {"capacity": "reservation"},
            {"reservation_id"},
        ),
        ({"instanceMarketOptions": "${a.id}"}, None, {}, {"capacity", "reservation_id"}),
    ],
)
def test_capacity(template: dict[str, Any], market: str | None, words: dict[str, str], unknown: set[str]) -> None:
    pool = node_group(template, capacityType=market)
    assert {word: pool.intent[word] for word in ("capacity", "reservation_id") if word in pool.intent} == words
    assert set(pool.unknown) == unknown


@pytest.mark.parametrize(
    ("interfaces", "public"),
    [
        (None, False),
        ([{"associatePublicIpAddress": "true"}], True),
        ([{"associatePublicIpAddress": "false"}], False),
        ([{"associatePublicIpAddress": "${a.id}"}], None),
    ],
)
def test_public_addresses(interfaces: object, public: bool | None) -> None:
    pool = node_group({"networkInterfaces": interfaces})
    assert pool.intent.get("public_addresses") is public
    assert ("public_addresses" in pool.unknown) is (public is None)


def test_subnets_give_public_addresses() -> None:
    open_subnet = {
        "type": "aws:ec2/subnet:Subnet",
        "inputs": {"availabilityZoneId": "use1-az1", "mapPublicIpOnLaunch": True},
    }
    assert pool_of(NODE_GROUP, {"subnetIds": ["${open.id}"]}, open=open_subnet).intent["public_addresses"] is True
    outside = pool_of(NODE_GROUP, {"subnetIds": ["subnet-1"]})
    assert "public_addresses" in outside.unknown


@pytest.mark.parametrize(
    ("types", "gpu"),
    [
        (["g5.xlarge"], True),
        (["m7i.large", "p5.48xlarge"], True),
        (["m7i.large"], False),
        (["g5.xlrge"], True),
        (["p99.large"], None),
        (["${a.id}"], None),
    ],
)
def test_gpu(types: list[str], gpu: bool | None) -> None:
    assert node_group(instanceTypes=types).gpu is gpu


def test_unknown_counts_and_types_are_unknown_words() -> None:
    pool = node_group(instanceTypes=["${a.id}"], scalingConfig={"minSize": 0, "maxSize": "${a.id}"})
    assert pool.unknown == ("types", "max")
    assert pool.intent["min"] == 0
