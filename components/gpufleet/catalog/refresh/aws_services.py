"""AWS's bulk price lists of the services around a pool: of each offer one CSV file for each region.

https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
Usage types as the resources of github.com/infracost/infracost (internal/resources/aws) look them up. The list of EC2
has throughput in GiBps.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpufleet.catalog.records import ServicePrice
from gpufleet.catalog.refresh.aws_prices import SITE, PriceList, UsagePrice, read_usage_list
from gpufleet.catalog.refresh.downloads import DownloadError, Downloads
from gpufleet.documents.json import read_json

EC2 = "AmazonEC2"


@dataclass(frozen=True)
class ListedItem:
    """Where an item of the catalog is in AWS's lists. parts: how many of the catalog's units are one of the list's."""

    service: str
    item: str
    unit: str
    offer: str
    usage: str
    """Usage type without the region in front of it: EUC1-NatGateway-Hours is NatGateway-Hours."""
    parts: int


@cache
def listed_items() -> tuple[ListedItem, ...]:
    """The items that a refresh looks for."""
    return read_json(Path(__file__).with_name("aws_services.json"), shape=tuple[ListedItem, ...])


def fetch_services(
    lists: Mapping[str, PriceList], regions: Iterable[str], downloads: Downloads, site: str = SITE
) -> tuple[list[ServicePrice], list[str]]:
    """The prices of a catalog's regions, and a line for each region with offers that cannot be read.

    lists: of EC2 by region, which are read already. regions: those that the catalog has zones of.
    """
    found: list[ServicePrice] = []
    notes: list[str] = []
    for region in regions:
        missing: dict[str, str] = {}
        for offer in dict.fromkeys(item.offer for item in listed_items()):
            try:
                rows = lists[region] if offer == EC2 else read_usage_list(downloads, offer, region, site)
            except DownloadError as error:
                missing[offer] = str(error)
                continue
            found += _prices(region, offer, rows)
        if missing:
            first = next(iter(missing.values()))
            notes.append(f"{region}: prices of {', '.join(missing)} stay as they were: {first}")
    return found, notes


def _prices(region: str, offer: str, rows: PriceList) -> Iterator[ServicePrice]:
    for item in listed_items():
        if item.offer == offer and (usd := first_price(rows.usage, item.usage)) is not None:
            price = round(usd / item.parts, 8)
            yield ServicePrice(item.service, item.item, region, item.unit, price, rows.url, rows.published)


def first_price(rows: Sequence[UsagePrice], usage: str) -> float | None:
    """USD for the first unit of a month; None without a price, and with several: then nobody knows which one counts."""
    named = [row for row in rows if row.usage == usage or row.usage.endswith(f"-{usage}")]
    prices = {row.usd for row in named if row.usd > 0 and row.start == 0}
    return prices.pop() if len(prices) == 1 else None
