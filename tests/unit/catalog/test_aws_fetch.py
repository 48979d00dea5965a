"""AWS's part of a refresh, with price lists on loopback and accounts that answer, refuse or are not there."""

import subprocess
import sys
from datetime import date

import boto3
import pytest
from botocore.exceptions import ClientError

from gpufleet.catalog import ServicePrice
from gpufleet.catalog.records import AwsZone, ZoneOffer
from gpufleet.catalog.refresh import DownloadError, Downloads, aws, refresh, spot_ranges
from gpufleet.catalog.refresh.aws_account import AccountFacts

TODAY = date(2026, 11, 21)
HEADER = (
    "SKU,TermType,Unit,PricePerUnit,Currency,Location Type,Instance Type,Tenancy,Operating System,"
    "CapacityStatus,GPU,Pre Installed S/W,MarketOption"
)
PRICES = {"p5.48xlarge": (50.5, 8), "g5.xlarge": (1.006, 1), "g9.xlarge": (2.5, 1), "m7i.large": (0.11, 0)}


def listed(prices: dict[str, tuple[float, int]]) -> str:
    rows = [
        f"X,OnDemand,Hrs,{usd},USD,AWS Region,{name},Shared,Linux,Used,{gpus or ''},NA,OnDemand"
        for name, (usd, gpus) in prices.items()
    ]
    return "\n".join(['"Publication Date","2026-11-18T00:00:00Z"', HEADER, *rows])


@pytest.fixture
def nobody(monkeypatch):
    """A machine without AWS credentials."""
    monkeypatch.setattr(boto3.Session, "get_credentials", lambda self: None)


@pytest.fixture
def somebody(monkeypatch):
    """A machine with credentials, and no network: regions are looked at by the function that a test gives."""
    monkeypatch.setattr(boto3.Session, "get_credentials", lambda self: object())
    monkeypatch.setattr(boto3.Session, "client", lambda self, service, region_name: region_name)
    return lambda look: monkeypatch.setattr(aws, "describe_account", look)


def without_services(notes):
    """The notes but those on lists of services: the one answer of these tests is EC2's."""
    return [note for note in notes if "AmazonVPC, AmazonEKS" not in note]


def fetched(shipped, site, regions=("us-east-1",)):
    return aws.fetch(shipped, regions, Downloads(attempts=1, backoff_seconds=0), TODAY, site.url)


def test_prices_without_credentials(shipped, site, nobody):
    site.answers(listed(PRICES))
    found = fetched(shipped, site)
    assert sorted(found.files) == ["prices.json", "service_prices.json"]
    prices = {(each.type, each.region): each for each in found.files["prices.json"]}
    new = prices["p5.48xlarge", "us-east-1"]
    assert (new.usd_per_hour, new.as_of) == (50.5, "2026-11-18")
    assert new.source == f"{site.url}/offers/v1.0/aws/AmazonEC2/current/us-east-1/index.csv"
    assert without_services(found.notes) == [
        "no AWS credentials: prices only; hardware, zones and Spot stay as they were",
        "not in the catalog, so without a price here: g9.xlarge",
    ]


def test_what_the_list_no_longer_has(shipped, site, nobody):
    """It is gone for current types of that region, and stays for retired types, unknown prices and other regions."""
    site.answers(listed(PRICES))
    prices = {(each.type, each.region): each for each in fetched(shipped, site).files["prices.json"]}
    assert ("p4d.24xlarge", "us-east-1") not in prices
    for key in [("p4d.24xlarge", "us-west-2"), ("p3.2xlarge", "us-east-1"), ("p5e.48xlarge", "us-east-1")]:
        assert prices[key] == shipped.prices[(*key, "on-demand")]


def test_machines_without_gpu(shipped, site, nobody):
    site.answers(listed(PRICES))
    found = {
        (each.service, each.item, each.region): each for each in fetched(shipped, site).files["service_prices.json"]
    }
    assert found["ec2", "m7i.large", "us-east-1"] == ServicePrice(
        "ec2", "m7i.large", "us-east-1", "hour", 0.11, site.url + site.asked[0], "2026-11-18"
    )
    assert ("ec2", "m5.large", "us-east-1") not in found
    assert found["eks", "cluster", "us-east-1"] == shipped.service_prices["eks", "cluster", "us-east-1"]


def test_files_fit_the_rest_of_the_catalog(shipped, site, nobody, tmp_path):
    site.answers(listed(PRICES))
    outcome = refresh(
        shipped,
        lambda current, regions, downloads, today: aws.fetch(current, regions, downloads, today, site.url),
        ["us-east-1"],
        tmp_path / "aws",
        Downloads(),
        TODAY,
    )
    assert "  p5.48xlarge us-east-1 on-demand: 55.04 USD -> 50.5 USD" in outcome.lines()


def seen_of(region: str) -> AccountFacts:
    zones = [AwsZone(region, f"{region}-az1", "the account", "2026-11-21", eks_control_plane=True)]
    offers = [ZoneOffer("g5.xlarge", region, (f"{region}-az1",), "the account", "2026-11-21")]
    spot = [("g5.xlarge", region, usd) for usd in (0.5, 0.00001, 1.006, 0.4)]
    return AccountFacts(region, [], offers, zones, spot)


def test_account_takes_the_place_of_what_was_known_of_its_regions(shipped, site, somebody):
    somebody(lambda client, region, today, known: seen_of(region))
    site.answers(listed(PRICES))
    found = fetched(shipped, site)
    offers = {(each.type, each.region): each.zone_ids for each in found.files["zone_offers.json"]}
    assert offers["g5.xlarge", "us-east-1"] == ("us-east-1-az1",)
    assert ("p5.48xlarge", "us-east-1") not in offers
    assert offers["p5.48xlarge", "us-east-2"] == shipped.offers["p5.48xlarge", "us-east-2"].zone_ids
    zones = [each.zone_id for each in found.files["zones.json"]]
    assert "us-east-1-az1" in zones
    assert "use1-az1" not in zones
    assert "use2-az1" in zones
    assert without_services(found.notes) == ["not in the catalog, so without a price here: g9.xlarge"]


def test_spot_is_a_range_without_placeholders(shipped, site, somebody):
    somebody(lambda client, region, today, known: seen_of(region))
    site.answers(listed(PRICES))
    spot = {
        (each.type, each.region): (each.usd_low, each.usd_high)
        for each in fetched(shipped, site).files["spot_prices.json"]
    }
    assert spot["g5.xlarge", "us-east-1"] == (0.4, 0.5)
    assert ("p4d.24xlarge", "us-east-1") not in spot
    assert spot["p4d.24xlarge", "us-west-2"] == shipped.spot_range("p4d.24xlarge", "us-west-2")


@pytest.mark.parametrize(
    ("prices", "full", "spot"),
    [
        ([3.0, 2.0, 2.5], 10.18405, (2.0, 3.0)),
        ([2.0], 10.18405, (2.0, 2.0)),
        ([10.1841, 2.0], 10.18405, (2.0, 2.0)),
        ([10.1841], 10.18405, None),
        ([0.0], 10.18405, None),
        ([0.5, 0.51], 10.18405, (0.51, 0.51)),
        ([10.0, 12.0], 10.18405, (10.0, 12.0)),
        ([3.0], None, (3.0, 3.0)),
        ([0.0], None, None),
    ],
)
def test_single_spot_prices_make_a_range(prices, full, spot):
    found = [("g5.24xlarge", "eu-central-1", usd) for usd in prices]
    ranges = spot_ranges(found, {("g5.24xlarge", "eu-central-1"): full}, "a list", "2026-11")
    assert [(each.usd_low, each.usd_high) for each in ranges] == ([spot] if spot else [])


def test_region_that_refuses_keeps_what_it_had(shipped, site, somebody):
    def look(client, region, today, known):
        if region == "us-east-1":
            raise ClientError(
                {"Error": {"Code": "UnauthorizedOperation", "Message": "not you"}}, "DescribeInstanceTypes"
            )
        return seen_of(region)

    somebody(look)
    site.answers(listed(PRICES))
    found = fetched(shipped, site, ("us-east-1", "us-east-2"))
    offers = {(each.type, each.region): each.zone_ids for each in found.files["zone_offers.json"]}
    assert offers["p5.48xlarge", "us-east-1"] == shipped.offers["p5.48xlarge", "us-east-1"].zone_ids
    assert offers["g5.xlarge", "us-east-2"] == ("us-east-2-az1",)
    assert found.notes[0] == (
        "us-east-1: hardware, zones and Spot stay as they were: An error occurred (UnauthorizedOperation) when calling "
        "the DescribeInstanceTypes operation: not you"
    )


def test_profile_that_is_not_there(shipped, site, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    site.answers(listed(PRICES))
    assert fetched(shipped, site).notes[0] == (
        "no AWS account: The config profile (nobody) could not be found; prices only, hardware, zones and Spot stay as "
        "they were"
    )


def test_one_list_that_cannot_be_read_fails_all(shipped, site, nobody):
    site.answers(listed(PRICES))
    site.answers("no", 404)
    with pytest.raises(DownloadError, match=r"us-west-2/index\.csv: the server answers 404"):
        fetched(shipped, site, ("us-east-1", "us-west-2"))


def test_no_sdk_is_imported_before_it_is_needed():
    script = (
        "import sys, gpufleet.catalog.refresh.aws, gpufleet.cli;"
        " sys.exit(bool({'boto3', 'botocore', 'urllib3', 'azure'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
