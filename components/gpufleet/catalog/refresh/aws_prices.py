"""AWS's bulk price list of EC2: one CSV file for each region, of some hundred megabytes, read line by line.

https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
"""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpufleet.catalog.refresh.downloads import DownloadError, Downloads

SITE = "https://pricing.us-east-1.amazonaws.com"
COLUMNS = {
    "TermType": "OnDemand",
    "Unit": "Hrs",
    "Currency": "USD",
    "Location Type": "AWS Region",
    "Tenancy": "Shared",
    "Operating System": "Linux",
    "CapacityStatus": "Used",
    "Pre Installed S/W": "NA",
    "MarketOption": "OnDemand",
}
"""A line is the price of a type when it holds these values: no reservation, no Windows, no software, no local zone."""
NEEDED = (*COLUMNS, "PricePerUnit", "Instance Type", "GPU")


@dataclass(frozen=True)
class PriceList:
    """On-demand USD for one hour of each type of a region. published: the list's own date.

    with_gpu: the types that have a GPU by the list.
    """

    url: str
    published: str
    usd: dict[str, float] = field(default_factory=dict)
    with_gpu: set[str] = field(default_factory=set)


def read_price_list(downloads: Downloads, region: str, site: str = SITE) -> PriceList:
    """The list of a region. Raises DownloadError, also for a list that is cut short or has other columns."""
    url = f"{site}/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
    return downloads.lines(url, lambda lines: _parse(url, lines))


def _parse(url: str, lines: Iterable[str]) -> PriceList:
    """Five lines of metadata, the names of the columns, then a line for each price."""
    rows = csv.reader(_whole(lines))
    published = ""
    header: list[str] = []
    for row in rows:
        if row[:1] == ["SKU"]:
            header = row
            break
        if row[:1] == ["Publication Date"] and len(row) > 1:
            published = row[1][:10]
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise DownloadError(f"{url}: not a price list as known: no column {', '.join(missing)}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", published):
        raise DownloadError(f"{url}: not a price list as known: no Publication Date")
    found = PriceList(url, published)
    wanted = [(header.index(name), value) for name, value in COLUMNS.items()]
    price, kind, gpu = (header.index(name) for name in ("PricePerUnit", "Instance Type", "GPU"))
    for number, row in enumerate(rows, start=1):
        if len(row) != len(header):
            raise DownloadError(f"{url}: price {number} has {len(row)} columns, not {len(header)}: cut short?")
        if any(row[place] != value for place, value in wanted):
            continue
        _note(found, row[kind], row[price])
        if row[gpu] not in ("", "0", "NA"):
            found.with_gpu.add(row[kind])
    if not found.usd:
        raise DownloadError(f"{url}: has no on-demand price of Linux")
    return found


def _note(found: PriceList, type_name: str, text: str) -> None:
    """Keep a price; a price of nothing is a placeholder, and two prices for one type are one too many."""
    try:
        usd = float(text)
    except ValueError as error:
        raise DownloadError(f"{found.url}: {type_name}: PricePerUnit={text!r} is not a number") from error
    if usd <= 0:
        return
    if found.usd.setdefault(type_name, usd) != usd:
        raise DownloadError(f"{found.url}: {type_name} has two on-demand prices: {found.usd[type_name]} and {usd}")


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """Lines as csv wants them: no carriage returns, and none empty."""
    return (line for line in (each.rstrip("\r") for each in lines) if line)
