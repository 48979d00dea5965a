"""AWS's lists of the services around a pool, in the shape in which they come: tiers, other classes, free amounts."""

import csv
import io

import boto3
import pytest

from gpufleet.catalog import ServicePrice
from gpufleet.catalog.refresh import Downloads, aws
from gpufleet.catalog.refresh.aws_prices import UsagePrice
from gpufleet.catalog.refresh.aws_services import first_price, listed_items
from tests.unit.catalog.test_aws_fetch import TODAY

COLUMNS = [
    *("SKU", "TermType", "PriceDescription", "StartingRange", "Unit", "PricePerUnit", "Currency", "Location Type"),
    *("Instance Type", "Tenancy", "Operating System", "CapacityStatus", "GPU", "Pre Installed S/W", "MarketOption"),
    "usageType",
]
NODE = {
    "TermType": "OnDemand",
    "Unit": "Hrs",
    "Currency": "USD",
    "Location Type": "AWS Region",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "CapacityStatus": "Used",
    "Pre Installed S/W": "NA",
    "MarketOption": "OnDemand",
    "Instance Type": "g6.xlarge",
    "GPU": "1",
    "PricePerUnit": "1.006",
    "usageType": "EUC1-BoxUsage:g6.xlarge",
}
LISTS = {
    "AmazonEC2": {
        "NatGateway-Hours": [("", "0.052")],
        "RegionalNatGateway-Hours": [("", "0.06")],
        "NatGateway-Bytes": [("", "0.052")],
        "EBS:VolumeUsage.gp3": [("", "0.0952")],
        "EBS:VolumeP-IOPS.gp3": [("", "0.006")],
        "EBS:VolumeP-Throughput.gp3": [("", "49.152")],
    },
    "AmazonVPC": {
        "PublicIPv4:InUseAddress": [("0", "0.005")],
        "VpcEndpoint-Hours": [("0", "0.012")],
        "VpcEndpoint-Bytes": [("0", "0.01"), ("1048576", "0.006"), ("5242880", "0.004")],
    },
    "AmazonEKS": {"AmazonEKS-Hours:perCluster": [("0", "0.1")]},
    "AmazonEFS": {"TimedStorage-ByteHrs": [("0", "0.36")], "IATimedStorage-ByteHrs": [("0", "0.0266")]},
    "AmazonECR": {"TimedStorage-ByteHrs": [("0", "0.1")]},
    "awskms": {"KMS-Keys": [("0", "1")]},
    "AmazonCloudWatch": {"DataProcessing-Bytes": [("0", "0.63")], "TimedStorage-ByteHrs": [("0", "0.0324")]},
    "AmazonS3": {"TimedStorage-ByteHrs": [("0", "0.0245"), ("51200", "0.0235")]},
    "AWSBackup": {"WarmStorage-ByteHrs-EFS": [("0", "0.06")], "ColdStorage-ByteHrs-EFS": [("0", "0.012")]},
}
WANTED = {
    "nat-gateway": 0.052, "nat-gateway-data": 0.052, "gp3-storage": 0.0952, "gp3-iops": 0.006, "gp3-throughput": 0.048,
    "public-ipv4": 0.005, "interface-endpoint": 0.012, "interface-endpoint-data": 0.01, "cluster": 0.1,
    "standard-storage": 0.36, "storage": 0.1, "key": 1.0, "logs-ingestion": 0.63, "logs-storage": 0.0324,
    "efs-warm-storage": 0.06,
}  # fmt: skip


def listed(offer: str) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, quoting=csv.QUOTE_ALL, restval="")
    writer.writeheader()
    rows = [
        {key: NODE[key] for key in ("TermType", "Currency", "Location Type")}
        | {"usageType": f"EUC1-{usage}", "StartingRange": start, "PricePerUnit": usd}
        for usage, prices in LISTS[offer].items()
        for start, usd in prices
    ]
    writer.writerows([NODE, *rows] if offer == "AmazonEC2" else rows)
    return f'"Publication Date","2026-11-18T00:00:00Z"\n{text.getvalue()}'


@pytest.fixture
def found(shipped, site, monkeypatch):
    monkeypatch.setattr(boto3.Session, "get_credentials", lambda self: None)
    for offer in LISTS:
        site.answers(listed(offer))
    return aws.fetch(shipped, ["eu-central-1"], Downloads(attempts=1, backoff_seconds=0), TODAY, site.url)


def test_one_refresh_reads_every_list_of_a_region(found, site):
    assert [path.split("/")[4] for path in site.asked] == list(LISTS)
    assert found.notes == ["no AWS credentials: prices only; hardware, zones and Spot stay as they were"]
    prices = {(each.service, each.item): each for each in found.files["service_prices.json"]
              if each.region == "eu-central-1"}  # fmt: skip
    assert {item: prices[service, item].usd for service, item in prices if item in WANTED and service != "s3"} == WANTED
    assert prices["s3", "standard-storage"] == ServicePrice(
        "s3", "standard-storage", "eu-central-1", "GB-month", 0.0245,
        f"{site.url}/offers/v1.0/aws/AmazonS3/current/eu-central-1/index.csv", "2026-11-18",
    )  # fmt: skip


def test_what_no_list_has_stays_as_it_was(found, shipped):
    prices = {(each.service, each.item, each.region): each for each in found.files["service_prices.json"]}
    for key in [("efs", "elastic-read", "eu-central-1"), ("kms", "key", "us-east-1")]:
        assert prices[key] == shipped.service_prices[key]


def test_a_list_that_cannot_be_read_is_a_note(shipped, site, monkeypatch):
    monkeypatch.setattr(boto3.Session, "get_credentials", lambda self: None)
    site.answers(listed("AmazonEC2"))
    site.answers("no such list", status=404)
    found = aws.fetch(shipped, ["eu-central-1"], Downloads(attempts=1, backoff_seconds=0), TODAY, site.url)
    assert any(note.startswith("eu-central-1: prices of AmazonVPC, AmazonEKS, ") for note in found.notes)
    prices = {(each.service, each.item, each.region): each.usd for each in found.files["service_prices.json"]}
    assert prices["ebs", "gp3-throughput", "eu-central-1"] == 0.048


def test_two_prices_of_one_usage_are_none():
    rows = [UsagePrice("EUC1-KMS-Keys", 0.0, 1.0), UsagePrice("KMS-Keys", 0.0, 2.0)]
    assert first_price(rows, "KMS-Keys") is None
    assert first_price(rows[:1], "KMS-Keys") == 1.0
    assert first_price([UsagePrice("KMS-Keys", 0.0, 0.0)], "KMS-Keys") is None


def test_every_item_is_one_of_the_catalog(shipped):
    known = {(service, item, price.unit) for (service, item, _), price in shipped.service_prices.items()}
    assert {(item.service, item.item, item.unit) for item in listed_items()} <= known
