"""What an account says of GPU types. Its stand-in is moto, which the shipped hardware and offers come from."""

from dataclasses import replace
from datetime import date

import boto3
import pytest
from moto import mock_aws

from gpufleet.catalog import Catalog
from gpufleet.catalog.records import AwsGpuType, AwsZone
from gpufleet.catalog.refresh.aws_account import AccountFacts, describe_account, hardware

TODAY = date(2026, 11, 21)
REGIONS = ("us-east-1", "us-west-2")


@pytest.fixture(scope="module")
def seen() -> dict[str, AccountFacts]:
    with mock_aws(), pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")
        return {region: describe_account(boto3.client("ec2", region), region, TODAY, {}) for region in REGIONS}


def facts(records) -> list[object]:
    """Records without where and when they come from."""
    return [replace(record, source="", as_of="") for record in records]


@pytest.mark.parametrize("region", REGIONS)
def test_shipped_data_is_that_of_the_account(seen, shipped: Catalog[AwsGpuType], region):
    offers = sorted((offer for key, offer in shipped.offers.items() if key[1] == region), key=lambda each: each.type)
    assert facts(sorted(seen[region].offers, key=lambda each: each.type)) == facts(offers)
    assert len(offers) > 40
    assert [zone.zone_id for zone in seen[region].zones] == list(shipped.regions[region])
    theirs = hardware(seen[region].types, shipped.types, TODAY)
    assert facts(theirs) == facts([shipped.types[record.type] for record in theirs])
    # moto describes every type in every region.
    current = {record.type for record in shipped.types.values() if not record.retired}
    assert {record.type for record in theirs} == current
    assert {(record.source, record.as_of) for record in theirs} == {("ec2 DescribeInstanceTypes", "2026-11-21")}
    assert {each.as_of for each in (*seen[region].offers, *seen[region].zones)} == {"2026-11-21"}


class Client:
    """Answers of the EC2 API that moto does not have."""

    def __init__(self, **pages) -> None:
        self._pages = {"describe_instance_types": [], "describe_instance_type_offerings": []} | pages
        self.asked: dict[str, dict] = {}

    def get_paginator(self, name: str) -> "Paginator":
        return Paginator(self, name)

    def describe_availability_zones(self) -> dict:
        return {
            "AvailabilityZones": [
                {"ZoneId": "use1-az3", "ZoneType": "availability-zone"},
                {"ZoneId": "use1-az9", "ZoneType": "availability-zone"},
                {"ZoneId": "use1-bos1-az1", "ZoneType": "local-zone"},
            ]
        }


class Paginator:
    def __init__(self, client: Client, name: str) -> None:
        self._client, self._name = client, name

    def paginate(self, **arguments):
        self._client.asked[self._name] = arguments
        return self._client._pages[self._name]


def described(name: str = "p9.48xlarge", **changes) -> dict:
    gpu = {"Name": "C100", "Manufacturer": "NVIDIA", "Count": 8, "MemoryInfo": {"SizeInMiB": 98304}}
    return {
        "InstanceType": name,
        "GpuInfo": {"Gpus": [gpu | changes.pop("gpu", {})]},
        "NetworkInfo": {
            "NetworkPerformance": changes.pop("speed", "4x 100 Gigabit"),
            "NetworkCards": changes.pop("cards", [{"InterfaceTypes": ["interface", "efa"]}] * 4),
            "EfaInfo": {"MaximumEfaInterfaces": changes.pop("efa", 4)},
        },
        "VCpuInfo": {"DefaultVCpus": 192},
        "MemoryInfo": {"SizeInMiB": 2097152},
        "ProcessorInfo": {"SupportedArchitectures": ["x86_64"]},
        "SupportedUsageClasses": ["on-demand", "capacity-block"],
        **changes,
    }


def test_new_type():
    (record,) = hardware([described()], {}, TODAY)
    assert record == AwsGpuType(
        type="p9.48xlarge", gpu_model="C100", gpus=8, gpu_memory_mib=98304, vcpus=192, memory_gib=2048,
        architecture="x86_64", network_gbps=400, network_burst=False, network_cards=4, efa_interfaces=4,
        first_card_has_efa=True, capacity_block=True, quota_family="P", retired=None, successor=None, note=None,
        source="ec2 DescribeInstanceTypes", as_of="2026-11-21",
    )  # fmt: skip
    assert record.problems() == []


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"speed": "Up to 25 Gigabit"}, "network_gbps", 25),
        ({"speed": "Up to 25 Gigabit"}, "network_burst", True),
        ({"speed": "12.5 Gigabit"}, "network_gbps", 12.5),
        ({"speed": "High"}, "network_gbps", None),
        ({"efa": 0}, "first_card_has_efa", None),
        ({"efa": 3, "cards": [{"InterfaceTypes": ["interface"]}] + [{}] * 3}, "first_card_has_efa", False),
        ({"efa": 4, "cards": [{}] * 4}, "first_card_has_efa", True),
        ({"efa": 3, "cards": [{}] * 4}, "first_card_has_efa", False),
        ({"gpu": {"MemoryInfo": {}}}, "gpu_memory_mib", None),
        ({"SupportedUsageClasses": ["spot"]}, "capacity_block", False),
        ({"name": "g9.xlarge"}, "quota_family", "G and VT"),
    ],
)
def test_hardware_in_other_words(changes, field, value):
    (record,) = hardware([described(**changes)], {}, TODAY)
    assert getattr(record, field) == value


def test_what_only_people_know_stays(shipped):
    known = shipped.types["p6-b300.48xlarge"]
    (record,) = hardware([described("p6-b300.48xlarge")], {known.type: replace(known, gpu_model="B300 SXM")}, TODAY)
    assert (record.gpu_model, record.note) == ("B300 SXM", known.note)


@pytest.mark.parametrize(
    ("name", "gpu", "is_one"),
    [
        ("g6.xlarge", {}, True),
        ("gr6.4xlarge", {}, True),
        ("p4d.24xlarge", {}, True),
        ("g4ad.xlarge", {"Manufacturer": "AMD"}, False),
        ("g6f.xlarge", {"Count": 0, "GpuPartitionSize": 0.125}, False),
        ("g3.4xlarge", {}, False),
        ("m7i.large", {}, False),
    ],
)
def test_types_that_the_catalog_holds(name, gpu, is_one):
    client = Client(
        describe_instance_types=[{"InstanceTypes": [described(name, gpu=gpu)]}],
        describe_spot_price_history=[{"SpotPriceHistory": []}],
    )
    assert bool(describe_account(client, "us-east-1", TODAY, {}).types) is is_one


def test_zones_offers_and_spot():
    offer = {"InstanceType": "p9.48xlarge"}
    client = Client(
        describe_instance_types=[{"InstanceTypes": []}, {"InstanceTypes": [described()]}],
        describe_instance_type_offerings=[
            {"InstanceTypeOfferings": [{**offer, "Location": "use1-az9"}, {**offer, "Location": "use1-bos1-az1"}]},
            {"InstanceTypeOfferings": [{**offer, "Location": "use1-az3"}, {**offer, "InstanceType": "m7i.large"}]},
        ],
        describe_spot_price_history=[
            {"SpotPriceHistory": [{"InstanceType": "p9.48xlarge", "SpotPrice": "20.100000"}]},
            {"SpotPriceHistory": [{"InstanceType": "p9.48xlarge", "SpotPrice": "30.200000"}]},
        ],
    )
    known = {"use1-az3": AwsZone("us-east-1", "use1-az3", "a list", "2026-10", eks_control_plane=False)}
    seen = describe_account(client, "us-east-1", TODAY, known)
    assert [(each.type, each.region, each.zone_ids) for each in seen.offers] == [
        ("p9.48xlarge", "us-east-1", ("use1-az3", "use1-az9"))
    ]
    assert [(each.zone_id, each.eks_control_plane) for each in seen.zones] == [("use1-az3", False), ("use1-az9", True)]
    assert seen.spot == [("p9.48xlarge", "us-east-1", 20.1), ("p9.48xlarge", "us-east-1", 30.2)]
    asked = client.asked["describe_spot_price_history"]
    assert asked["StartTime"].isoformat() == "2026-11-14T00:00:00+00:00"
    assert asked["ProductDescriptions"] == ["Linux/UNIX"]
    assert client.asked["describe_instance_type_offerings"] == {"LocationType": "availability-zone-id"}
