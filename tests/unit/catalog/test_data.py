"""What must hold for the catalog that ships, whoever refreshes it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gpufleet.catalog
from gpufleet.catalog import aws, eks_zones, gpu_type
from gpufleet.catalog.eks_versions import EksVersion
from gpufleet.catalog.records import (
    AutomaticName,
    AwsGpuType,
    AwsZone,
    Price,
    Quota,
    ResourceQuota,
    ServicePrice,
    SpotPrice,
    ZoneOffer,
)

FOLDER = Path(gpufleet.catalog.__file__).parent / "aws"
FILES = {
    "automatic_names.json": AutomaticName,
    "instance_types.json": AwsGpuType,
    "zone_offers.json": ZoneOffer,
    "zones.json": AwsZone,
    "kubernetes_versions.json": EksVersion,
    "resource_quotas.json": ResourceQuota,
    "prices.json": Price,
    "quotas.json": Quota,
    "service_prices.json": ServicePrice,
    "spot_prices.json": SpotPrice,
}
SIZES = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge")


def test_all_files_load_and_join():
    aws().check()


@pytest.mark.parametrize("name", FILES)
def test_every_record_says_source_and_date(name):
    for record in json.loads((FOLDER / name).read_text()):
        assert record["source"]
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", record["as_of"])


@pytest.mark.parametrize(("name", "kind"), FILES.items())
def test_files_are_sorted_with_one_record_per_line(name, kind):
    lines = (FOLDER / name).read_text().splitlines()
    records = [json.loads(line.rstrip(",")) for line in lines[1:-1]]
    keys = [[record[field] for field in kind.KEY] for record in records]
    assert keys == sorted(keys)
    assert (lines[0], lines[-1]) == ("[", "]")


def test_no_price_is_zero_or_below():
    assert all(price.usd_per_hour is None or price.usd_per_hour > 0 for price in aws().prices.values())


def test_every_type_has_a_price_record_if_only_to_say_that_none_is_known():
    assert {name for name, _, _ in aws().prices} == set(aws().types)


@pytest.mark.parametrize(
    "name",
    [
        *("p2.xlarge", "p3.2xlarge", "p3.8xlarge", "p3.16xlarge", "p3dn.24xlarge", "p4d.24xlarge", "p4de.24xlarge"),
        *("p5.4xlarge", "p5.48xlarge", "p5e.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge"),
        *(f"g4dn.{size}" for size in (*SIZES, "metal")),
        *(f"{family}.{size}" for family in ("g5", "g6", "g6e") for size in (*SIZES, "24xlarge", "48xlarge")),
    ],
)
def test_type_is_known(name):
    assert gpu_type(name).gpus >= 1


@pytest.mark.parametrize(
    ("name", "gpus", "model", "vcpus", "memory", "gbps", "cards", "efa", "usd"),
    [
        ("p4d.24xlarge", 8, "A100", 96, 1152, 400, 4, 4, 21.957642),
        ("p5.48xlarge", 8, "H100", 192, 2048, 3200, 32, 32, 55.04),
        ("p5.4xlarge", 1, "H100", 16, 256, 100, 1, 1, 6.88),
        ("p5en.48xlarge", 8, "H200", 192, 2048, 3200, 16, 16, 63.296),
        ("p6-b200.48xlarge", 8, "B200", 192, 2048, 3200, 8, 8, 113.9328),
        ("p3.8xlarge", 4, "V100", 32, 244, 10, 1, 0, 12.24),
        ("g5.8xlarge", 1, "A10G", 32, 128, 25, 1, 1, 2.448),
        ("g5.4xlarge", 1, "A10G", 16, 64, 25, 1, 0, 1.624),
        ("g6e.48xlarge", 8, "L40S", 192, 1536, 400, 4, 4, 30.13118),
        ("g4dn.metal", 8, "T4", 96, 384, 100, 1, 1, 7.824),
    ],
)
def test_hand_checked_figures(name, gpus, model, vcpus, memory, gbps, cards, efa, usd):
    record = gpu_type(name)
    assert (record.gpus, record.gpu_model, record.vcpus, record.memory_gib) == (gpus, model, vcpus, memory)
    assert (record.network_gbps, record.network_cards, record.efa_interfaces) == (gbps, cards, efa)
    assert aws().price(name, "us-east-1") == usd


@pytest.mark.parametrize(
    ("name", "region", "usd"),
    [
        ("p3dn.24xlarge", "eu-west-1", 33.711),
        ("p4d.24xlarge", "us-west-2", 21.95764),
        ("p4de.24xlarge", "ap-northeast-1", 37.6223),
        ("p5.48xlarge", "us-east-2", 55.04),
        ("p5.4xlarge", "us-west-2", 6.88),
        ("p5en.48xlarge", "eu-north-1", 67.72672),
        ("p6-b300.48xlarge", "us-west-2", 142.416),
        ("g4dn.xlarge", "eu-west-1", 0.587),
        ("g5.8xlarge", "eu-central-1", 3.06122),
        ("g6.xlarge", "us-east-2", 0.8048),
        ("g6e.48xlarge", "ap-northeast-1", 43.69912),
    ],
)
def test_prices_of_other_regions(name, region, usd):
    assert aws().price(name, region) == usd


def test_a_region_costs_the_same_multiple_for_every_size_of_a_family():
    """As AWS prices them: a figure copied wrongly stands out."""
    ratios: dict[tuple[str, str], set[float]] = {}
    for (name, region, _), price in aws().prices.items():
        if price.usd_per_hour and (home := aws().price(name, "us-east-1")):
            ratios.setdefault((name.split(".")[0], region), set()).add(price.usd_per_hour / home)
    assert {key for key, found in ratios.items() if max(found) - min(found) > 0.003} == set()
    assert len(ratios) > 40


def test_spot_is_below_on_demand_and_no_placeholder():
    """Public lists give the on-demand price, or nothing, for Spot where there was no Spot price."""
    for (name, region), spot in aws().spot_prices.items():
        on_demand = aws().price(name, region)
        assert on_demand is not None, (name, region)
        assert on_demand / 20 < spot.usd_low <= spot.usd_high < on_demand - 0.0001, (name, region)
    assert aws().spot_range("p5.48xlarge", "us-east-1") == (17.6289, 25.7522)
    assert aws().spot_range("g6e.xlarge", "us-east-1") == (0.9154, 1.1975)
    assert aws().spot_range("p5.4xlarge", "us-east-1") is None
    assert aws().spot_range("p5.4xlarge", "ap-northeast-1") is None
    assert aws().spot_range("g5.24xlarge", "ap-northeast-1") is None


@pytest.mark.parametrize(
    ("service", "item", "unit", "usd"),
    [
        ("eks", "cluster", "hour", 0.10),
        ("eks", "cluster-extended-support", "hour", 0.60),
        ("vpc", "nat-gateway", "hour", 0.045),
        ("vpc", "nat-gateway-data", "GB", 0.045),
        ("vpc", "public-ipv4", "hour", 0.005),
        ("vpc", "interface-endpoint", "hour", 0.01),
        ("vpc", "interface-endpoint-data", "GB", 0.01),
        ("vpc", "cross-zone-transfer", "GB", 0.01),
        ("efs", "standard-storage", "GB-month", 0.30),
        ("efs", "one-zone-storage", "GB-month", 0.16),
        ("efs", "standard-ia-storage", "GB-month", None),
        ("efs", "elastic-read", "GB", 0.03),
        ("efs", "elastic-write", "GB", 0.06),
        ("efs", "provisioned-throughput", "MBps-month", 6),
        ("ebs", "gp3-storage", "GB-month", 0.08),
        ("ebs", "gp3-iops", "IOPS-month", 0.005),
        ("ebs", "gp3-throughput", "MBps-month", 0.04),
        ("ecr", "storage", "GB-month", 0.10),
        ("kms", "key", "key-month", 1),
        ("cloudwatch", "logs-ingestion", "GB", 0.50),
        ("cloudwatch", "logs-storage", "GB-month", 0.03),
        ("s3", "standard-storage", "GB-month", 0.023),
        ("backup", "efs-warm-storage", "GB-month", 0.05),
        ("ec2", "m7i.large", "hour", 0.1008),
        ("ec2", "m5.xlarge", "hour", 0.192),
        ("ec2", "t3.medium", "hour", 0.0416),
    ],
)
def test_prices_around_a_pool(service, item, unit, usd):
    record = aws().service_prices[service, item, "us-east-1"]
    assert (record.unit, record.usd) == (unit, usd)


def test_items_are_those_that_the_docstring_names():
    """Cost and users look items up by the names in ServicePrice's docstring."""
    named = set(re.findall(r"[a-z0-9-]+", ServicePrice.__doc__))
    held = {word for service, item, _ in aws().service_prices if service != "ec2" for word in (service, item)}
    assert held <= named


def test_p6_b300_has_one_more_card_than_efa_and_says_so():
    record = gpu_type("p6-b300.48xlarge")
    assert (record.network_cards, record.efa_interfaces, record.first_card_has_efa) == (17, 16, False)
    assert "card 0" in record.note


def test_interfaces_fit_on_cards():
    for record in aws().types.values():
        usable = record.network_cards - (record.first_card_has_efa is False)
        assert record.efa_interfaces in (0, usable), record.type
        assert (record.first_card_has_efa is None) == (record.efa_interfaces == 0)


def test_retired_types_are_offered_nowhere_and_have_a_current_successor():
    retired = [record for record in aws().types.values() if record.retired]
    assert {record.type.split(".")[0] for record in retired} == {"p2", "p3"}
    for record in retired:
        assert aws().regions_with(record.type) == ()
        assert gpu_type(record.successor).retired is None


def test_current_types_are_offered_somewhere():
    assert [name for name, each in aws().types.items() if not each.retired and not aws().regions_with(name)] == []


@pytest.mark.parametrize(
    ("name", "zones"),
    [
        ("p4d.24xlarge", "1 2 4 6"),
        ("p4de.24xlarge", "4 6"),
        ("p5.48xlarge", "1 2 3 4 5 6"),
        ("p5en.48xlarge", "2 6"),
        ("p6-b200.48xlarge", "6"),
        ("g5.xlarge", "1 2 4 5 6"),
        ("g6e.xlarge", "1 2 4 6"),
        ("p5e.48xlarge", ""),
    ],
)
def test_zones_of_us_east_1(name, zones):
    assert aws().zones_with(name, "us-east-1") == tuple(f"use1-az{number}" for number in zones.split())


def test_zones_that_eks_refuses():
    refused = [zone for region in aws().regions for zone, accepted in eks_zones(region).items() if not accepted]
    assert refused == ["cac1-az3", "use1-az3", "usw1-az2"]


def test_unknown_is_none_and_never_a_guess():
    catalog = aws()
    assert catalog.zones_with("p9.large", "us-east-1") is None
    assert catalog.zones_with("p5.48xlarge", "mx-central-1") is None
    assert catalog.offered("p5.48xlarge", "use1-az1") is True
    assert catalog.offered("p5e.48xlarge", "use1-az1") is False
    assert catalog.offered("p5.48xlarge", "use1-bos1-az1") is None
    assert catalog.offered("m7i.large", "use1-az1") is None
    assert catalog.price("p5e.48xlarge", "us-east-1") is None
    assert catalog.price("p5.48xlarge", "eu-west-1") is None


@pytest.mark.parametrize(
    ("family", "market", "code"),
    [
        ("P", "on-demand", "L-417A185B"),
        ("P", "spot", "L-7212CCBC"),
        ("G and VT", "on-demand", "L-DB2E81BA"),
        ("G and VT", "spot", "L-3819A6DF"),
    ],
)
def test_quota_codes(family, market, code):
    assert aws().quotas[family, market].code == code


@pytest.mark.parametrize(
    ("counted", "service", "code", "raised_by"),
    [
        ("elastic_ips", "ec2", "L-0263D0A3", "L-0263D0A3"),
        ("vpcs", "vpc", "L-F678F1CE", "L-F678F1CE"),
        ("internet_gateways", "vpc", "L-A4707A72", "L-F678F1CE"),
        ("nat_gateways", "vpc", "L-FE5A380F", "L-FE5A380F"),
        ("nodes_per_node_group", "eks", "L-BD136A63", "L-BD136A63"),
    ],
)
def test_network_quota_codes(counted, service, code, raised_by):
    quota = aws().resource_quotas[counted]
    assert (quota.service, quota.code, quota.raised_by) == (service, code, raised_by)


def test_nothing_is_read_before_it_is_asked_for():
    """Import must stay cheap: no file is opened by it, and none by making the catalog."""
    script = (
        "import sys; opened = []; sys.addaudithook(lambda event, args: opened.append(str(args[0]))"
        " if event == 'open' else None); import gpufleet.catalog; gpufleet.catalog.aws();"
        " sys.exit(any(name.endswith('.json') for name in opened) or 'pulumi' in sys.modules)"
    )
    path = str(Path(gpufleet.catalog.__file__).parents[2])
    assert subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": path}, check=False).returncode == 0


REGIONS = (
    *("us-east-1", "us-east-2", "us-west-2", "ca-central-1", "eu-central-1", "eu-west-1", "eu-west-2", "eu-north-1"),
    *("ap-northeast-1", "ap-northeast-2", "ap-south-1", "ap-southeast-1", "ap-southeast-2", "sa-east-1"),
)


@pytest.mark.parametrize("region", REGIONS)
def test_a_region_has_prices_of_gpu_nodes_and_of_what_surrounds_them(region):
    offered = {name for name, where in aws().offers if where == region}
    assert sum(1 for name in offered if aws().price(name, region)) >= len(offered) / 2
    missing = [
        item
        for item in (
            *(("eks", "cluster"), ("vpc", "nat-gateway"), ("vpc", "nat-gateway-data"), ("vpc", "public-ipv4")),
            *(("efs", "standard-storage"), ("efs", "elastic-read"), ("efs", "elastic-write"), ("kms", "key")),
            *(("cloudwatch", "logs-ingestion"), ("ebs", "gp3-storage"), ("s3", "standard-storage")),
            *(("vpc", "interface-endpoint"), ("ec2", "m7i.large"), ("vpc", "vpn-connection")),
            *(("ecr", "storage"), ("backup", "efs-warm-storage"), ("vpc", "cross-zone-transfer")),
        )
        if (found := aws().service_prices.get((*item, region))) is None or not found.usd
    ]
    assert missing == []
