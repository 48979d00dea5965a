"""AWS's bulk price lists: one CSV file for each offer and region, that of EC2 of some hundred megabytes.

https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-the-aws-price-list-bulk-api.html
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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


USAGE = ("TermType", "Currency", "Location Type", "StartingRange", "PricePerUnit", "usageType")
"""Columns of usage prices: the usage, and the amount of a month from which on a price holds."""


@dataclass(frozen=True, slots=True)
class UsagePrice:
    """One price of usage, which is billed by amount. start: the amount of a month from which on it holds."""

    usage: str
    start: float
    usd: float


@dataclass(frozen=True)
class PriceList:
    """On-demand USD for one hour of each type of a region. published: the list's own date.

    with_gpu: the types that have a GPU by the list. usage: prices by amount, if the list has the columns for it.
    """

    url: str
    published: str
    usd: dict[str, float] = field(default_factory=dict)
    with_gpu: set[str] = field(default_factory=set)
    usage: list[UsagePrice] = field(default_factory=list)


def read_price_list(downloads: Downloads, region: str, site: str = SITE) -> PriceList:
    """The list of a region. Raises DownloadError, also for a list that is cut short or has other columns."""
    url = f"{site}/offers/v1.0/aws/AmazonEC2/current/{region}/index.csv"
    return downloads.lines(url, lambda lines: _parse(url, lines))


def read_usage_list(downloads: Downloads, offer: str, region: str, site: str = SITE) -> PriceList:
    """The list of another offer, without machines. Raises DownloadError as `read_price_list`."""
    url = f"{site}/offers/v1.0/aws/{offer}/current/{region}/index.csv"
    return downloads.lines(url, lambda lines: _parse_usage(url, lines))


def _parse_usage(url: str, lines: Iterable[str]) -> PriceList:
    rows = csv.reader(_whole(lines))
    found, header = _head(url, rows, USAGE)
    note = _usage_noter(found, header)
    for number, row in enumerate(rows, start=1):
        _check_length(url, row, header, number)
        note(row)
    return found


def _usage_noter(found: PriceList, header: list[str]) -> Callable[[list[str]], None]:
    """Keeps the prices of usage; keeps nothing where the list has no columns for it."""
    if any(name not in header for name in USAGE):
        return lambda row: None
    places = {name: header.index(name) for name in USAGE}
    wanted = [
        (places[name], value)
        for name, value in (("TermType", "OnDemand"), ("Currency", "USD"), ("Location Type", "AWS Region"))
    ]
    machine = header.index("Instance Type") if "Instance Type" in header else None

    def note(row: list[str]) -> None:
        if machine is not None and row[machine]:
            return
        if all(row[place] == value for place, value in wanted):
            usage = row[places["usageType"]]
            start = _number(found.url, usage, row[places["StartingRange"]] or "0", "StartingRange")
            found.usage.append(UsagePrice(usage, start, _number(found.url, usage, row[places["PricePerUnit"]])))

    return note


def _head(url: str, rows: Iterator[list[str]], needed: Sequence[str]) -> tuple[PriceList, list[str]]:
    """Five lines of metadata, then the names of the columns."""
    published = ""
    header: list[str] = []
    for row in rows:
        if row[:1] == ["SKU"]:
            header = row
            break
        if row[:1] == ["Publication Date"] and len(row) > 1:
            published = row[1][:10]
    missing = [name for name in needed if name not in header]
    if missing:
        raise DownloadError(f"{url}: not a price list as known: no column {', '.join(missing)}")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", published):
        raise DownloadError(f"{url}: not a price list as known: no Publication Date")
    return PriceList(url, published), header


def _parse(url: str, lines: Iterable[str]) -> PriceList:
    """Metadata and columns, then a line for each price."""
    rows = csv.reader(_whole(lines))
    found, header = _head(url, rows, NEEDED)
    note_usage = _usage_noter(found, header)
    wanted = [(header.index(name), value) for name, value in COLUMNS.items()]
    price, kind, gpu = (header.index(name) for name in ("PricePerUnit", "Instance Type", "GPU"))
    for number, row in enumerate(rows, start=1):
        _check_length(url, row, header, number)
        note_usage(row)
        if any(row[place] != value for place, value in wanted):
            continue
        _note(found, row[kind], row[price])
        if row[gpu] not in ("", "0", "NA"):
            found.with_gpu.add(row[kind])
    if not found.usd:
        raise DownloadError(f"{url}: has no on-demand price of Linux")
    return found


def _check_length(url: str, row: list[str], header: list[str], number: int) -> None:
    if len(row) != len(header):
        raise DownloadError(f"{url}: price {number} has {len(row)} columns, not {len(header)}: cut short?")


def _number(url: str, of: str, text: str, column: str = "PricePerUnit") -> float:
    try:
        return float(text)
    except ValueError as error:
        raise DownloadError(f"{url}: {of}: {column}={text!r} is not a number") from error


def _note(found: PriceList, type_name: str, text: str) -> None:
    """Keep a price; a price of nothing is a placeholder, and two prices for one type are one too many."""
    usd = _number(found.url, type_name, text)
    if usd <= 0:
        return
    if found.usd.setdefault(type_name, usd) != usd:
        raise DownloadError(f"{found.url}: {type_name} has two on-demand prices: {found.usd[type_name]} and {usd}")


def _whole(lines: Iterable[str]) -> Iterator[str]:
    """Lines as csv wants them: no carriage returns, and none empty."""
    return (line for line in (each.rstrip("\r") for each in lines) if line)
