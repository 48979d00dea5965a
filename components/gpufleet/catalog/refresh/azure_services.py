"""The Retail Prices API of Azure: of its meters, those of the services around a pool.

Names of products and meters as a copy of the list has them (github.com/andy-diericks/azure-pricing-radar data/latest),
and as github.com/infracost/infracost (internal/resources/azure) looks them up.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from gpufleet.catalog.records import ServicePrice
from gpufleet.catalog.refresh.azure_prices import ADDRESS, MeterRow, read_meters
from gpufleet.catalog.refresh.downloads import DownloadError, Downloads
from gpufleet.documents.json import read_json


@dataclass(frozen=True)
class ListedMeter:
    """Where an item of the catalog is in Azure's list.

    measure: the list's word for its unit. parts: how many of the catalog's units are one of the list's: 24 for a day.
    """

    service: str
    item: str
    unit: str
    listed_service: str
    product: str
    meter: str
    measure: str
    parts: int


@cache
def listed_meters() -> tuple[ListedMeter, ...]:
    """The items that a refresh looks for."""
    return read_json(Path(__file__).with_name("azure_services.json"), shape=tuple[ListedMeter, ...])


def fetch_services(
    regions: Iterable[str], downloads: Downloads, today: date, address: str = ADDRESS
) -> tuple[list[ServicePrice], list[str]]:
    """The prices of a catalog's regions, and a line for each product that cannot be read."""
    found: list[ServicePrice] = []
    notes: list[str] = []
    for region in regions:
        for name, product in dict.fromkeys((meter.listed_service, meter.product) for meter in listed_meters()):
            asked = f"serviceName eq '{name}' and productName eq '{product}'"
            try:
                rows = list(read_meters(downloads, asked, region, address))
            except DownloadError as error:
                notes.append(f"{region}: prices of {product} stay as they were: {error}")
                continue
            found += _prices(region, product, rows, address, today.isoformat())
    return found, notes


def _prices(region: str, product: str, rows: Sequence[MeterRow], source: str, day: str) -> Iterator[ServicePrice]:
    for meter in listed_meters():
        if meter.product == product and (usd := first_price(rows, meter, region, day)) is not None:
            price = round(usd / meter.parts, 8)
            yield ServicePrice(meter.service, meter.item, region, meter.unit, price, source, day)


def first_price(rows: Iterable[MeterRow], meter: ListedMeter, region: str, day: str) -> float | None:
    """USD for the first unit of a month, by the row that began last; None without one, and if it has several prices.

    Other than of machines, rows of regions that are not primary count: most meters that regions share have only such.
    """
    begun: dict[str, set[float]] = {}
    for row in rows:
        usd, begin = row.get("retailPrice"), str(row.get("effectiveStartDate", ""))[:10]
        named = (row.get("productName"), row.get("meterName"), row.get("unitOfMeasure"), row.get("armRegionName"))
        if named != (meter.product, meter.meter, meter.measure, region) or row.get("currencyCode") != "USD":
            continue
        if isinstance(usd, int | float) and usd > 0 and not row.get("tierMinimumUnits") and begin <= day:
            begun.setdefault(begin, set()).add(float(usd))
    last = begun[max(begun)] if begun else set()
    return last.pop() if len(last) == 1 else None
