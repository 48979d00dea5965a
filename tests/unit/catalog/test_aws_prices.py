"""AWS's bulk list: lines as it has them, most of them not a price of a Linux node on demand."""

import csv
import io

import pytest

from gpufleet.catalog.refresh import DownloadError, Downloads
from gpufleet.catalog.refresh.aws_prices import COLUMNS, read_price_list

METADATA = """"FormatVersion","v1.0"
"Disclaimer","This pricing list is for informational purposes only."
"Publication Date","2026-11-18T21:05:03Z"
"Version","20261118210503"
"OfferCode","AmazonEC2"
"""
HEADER = [
    *("SKU", "OfferTermCode", "TermType", "PriceDescription", "Unit", "PricePerUnit", "Currency", "Product Family"),
    *("Location Type", "Instance Type", "Tenancy", "Operating System", "CapacityStatus", "GPU", "Pre Installed S/W"),
    "MarketOption",
]
NODE = {**COLUMNS, "SKU": "7QZ2", "Product Family": "Compute Instance", "PriceDescription": 'says "hourly", plainly'}


def line(instance_type: str, usd: str, **changes: str) -> dict[str, str]:
    return {**NODE, "Instance Type": instance_type, "PricePerUnit": usd, **changes}


P5 = line("p5.48xlarge", "55.0400000000", GPU="8")
M7I = line("m7i.large", "0.1008000000")


def listed(*rows: dict[str, str], metadata: str = METADATA, without: str = "") -> str:
    text = io.StringIO()
    columns = [name for name in HEADER if name != without]
    writer = csv.DictWriter(text, columns, quoting=csv.QUOTE_ALL, extrasaction="ignore", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return metadata + text.getvalue()


def read(site):
    return read_price_list(Downloads(attempts=2, backoff_seconds=0), "us-east-1", site.url)


def failure(site) -> str:
    with pytest.raises(DownloadError) as error:
        read(site)
    assert "\n" not in str(error.value)
    return str(error.value).partition("index.csv: ")[2]


def test_prices_with_the_date_of_the_list(site):
    site.answers(listed(P5, M7I))
    found = read(site)
    assert found.usd == {"p5.48xlarge": 55.04, "m7i.large": 0.1008}
    assert found.with_gpu == {"p5.48xlarge"}
    assert found.published == "2026-11-18"
    assert site.asked == ["/offers/v1.0/aws/AmazonEC2/current/us-east-1/index.csv"]


@pytest.mark.parametrize(
    "changes",
    [
        {"TermType": "Reserved"},
        {"Tenancy": "Dedicated"},
        {"Operating System": "Windows"},
        {"CapacityStatus": "UnusedCapacityReservation"},
        {"CapacityStatus": "AllocatedCapacityReservation"},
        {"Pre Installed S/W": "SQL Std"},
        {"MarketOption": "CapacityBlock"},
        {"Location Type": "AWS Local Zone"},
        {"Unit": "Quantity"},
        {"Currency": "CNY"},
        {"PricePerUnit": "0.0000000000"},
    ],
)
def test_other_offers_of_the_same_type_do_not_count(site, changes):
    other = line("p5.48xlarge", "1.0000000000", GPU="8") | changes
    site.answers(listed(other, P5, other))
    assert read(site).usd == {"p5.48xlarge": 55.04}


def test_two_prices_for_one_type(site):
    site.answers(listed(P5, line("p5.48xlarge", "98.3200000000", GPU="8")))
    assert failure(site) == "p5.48xlarge has two on-demand prices: 55.04 and 98.32"


def test_the_same_price_twice_is_one(site):
    site.answers(listed(P5, P5))
    assert read(site).usd == {"p5.48xlarge": 55.04}


def test_price_that_is_no_number(site):
    site.answers(listed(line("p5.48xlarge", "free")))
    assert failure(site) == "p5.48xlarge: PricePerUnit='free' is not a number"


@pytest.mark.parametrize("column", [*COLUMNS, "PricePerUnit", "Instance Type", "GPU"])
def test_list_with_other_columns(site, column):
    site.answers(listed(P5, without=column))
    assert failure(site) == f"not a price list as known: no column {column}"


def test_list_without_columns(site):
    site.answers("<html>\nplease log in\n")
    assert failure(site).startswith("not a price list as known: no column TermType, Unit")


def test_list_without_date(site):
    site.answers(listed(P5, metadata='"FormatVersion","v1.0"\n'))
    assert failure(site) == "not a price list as known: no Publication Date"


def test_last_line_is_cut(site):
    whole = listed(P5, M7I)
    site.answers(whole[: whole.rindex('"Linux"')])
    assert failure(site) == "price 2 has 12 columns, not 16: cut short?"


def test_list_without_any_price(site):
    site.answers(listed())
    assert failure(site) == "has no on-demand price of Linux"


def test_broken_body_starts_over(site):
    site.answers(listed(line("p5.48xlarge", "98.3200000000")), size=10_000)
    site.answers(listed(P5))
    assert read(site).usd == {"p5.48xlarge": 55.04}
