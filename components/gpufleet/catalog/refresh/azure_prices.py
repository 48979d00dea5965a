"""The Retail Prices API of Azure: pages of meters, and of these the prices of Linux machines.

Source: https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from urllib.parse import quote, urlsplit

from gpufleet.catalog.refresh.downloads import DownloadError, Downloads

ADDRESS = "https://prices.azure.com/api/retail/prices"

OTHER_PRODUCTS = ("Windows", "Cloud Services", "CloudServices", "Dedicated Host")
"""In a product's name: the same machine under another licence or service, at another price."""
OTHER_METERS = ("Low Priority",)
"""In a meter's name: what Batch sold until Spot replaced it; its prices are still listed."""
SPOT = " Spot"
"""How the name of a Spot meter ends."""

MeterRow = Mapping[str, object]


@dataclass(frozen=True)
class RegionPrices:
    """What the list says about one region. on_demand: USD for one hour, None where it contradicts itself.

    spot: single prices, placeholders among them. doubtful: the prices of those that are None.
    """

    region: str
    on_demand: Mapping[str, float | None]
    spot: tuple[tuple[str, float], ...]
    doubtful: Mapping[str, tuple[float, ...]]


def read_rows(downloads: Downloads, region: str, address: str = ADDRESS) -> Iterator[MeterRow]:
    """All meters of virtual machines in a region, page by page.

    Raises DownloadError: an answer that is not a price list, a next page elsewhere or one that was read before, and a
    region without machines (the service answers an unknown region with an empty list).
    """
    empty = True
    for row in read_meters(downloads, "serviceName eq 'Virtual Machines'", region, address):
        empty = False
        yield row
    if empty:
        raise DownloadError(f"{address}: no virtual machines are listed for {region}; is it an Azure region?")


def read_meters(downloads: Downloads, of: str, region: str, address: str = ADDRESS) -> Iterator[MeterRow]:
    """All meters of a region that a filter holds for, page by page. Raises DownloadError as `read_rows`."""
    asked = f"{of} and priceType eq 'Consumption' and armRegionName eq '{region}'"
    url: str | None = f"{address}?$filter={quote(asked)}"
    read: set[str] = set()
    while url:
        read.add(url)
        rows, following = _page(downloads.json(url), url)
        yield from rows
        if following and urlsplit(following)[:2] != urlsplit(_with_port(address, following))[:2]:
            raise DownloadError(f"{url}: the next page is on another server: {following}")
        if following in read:
            raise DownloadError(f"{url}: the next page is one that was read before: {following}")
        url = following


def region_prices(rows: Iterable[MeterRow], region: str, wanted: Container[str], today: date) -> RegionPrices:
    """The prices of wanted sizes: Linux, pay as you go, by the hour, in USD, and above zero."""
    on_demand: dict[str, dict[float, str]] = {}
    spot: set[tuple[str, float]] = set()
    for row in rows:
        name, usd, begin = row.get("armSkuName"), row.get("retailPrice"), str(row.get("effectiveStartDate", ""))
        if not isinstance(name, str) or name not in wanted or not isinstance(usd, int | float) or usd <= 0:
            continue
        if not _is_linux_hour(row, region) or begin[:10] > today.isoformat():
            continue
        if str(row.get("meterName")).endswith(SPOT):
            spot.add((name, float(usd)))
        else:
            found = on_demand.setdefault(name, {})
            found[float(usd)] = max(begin, found.get(float(usd), ""))
    newest = {name: _newest(found) for name, found in on_demand.items()}
    return RegionPrices(
        region,
        {name: usd[0] if len(usd) == 1 else None for name, usd in newest.items()},
        tuple(sorted(spot)),
        {name: usd for name, usd in newest.items() if len(usd) > 1},
    )


def _newest(found: Mapping[float, str]) -> tuple[float, ...]:
    """The prices that began last: an older one of the same meter may still be listed."""
    last = max(found.values())
    return tuple(sorted(usd for usd, begin in found.items() if begin == last))


def _is_linux_hour(row: MeterRow, region: str) -> bool:
    product, meter = str(row.get("productName")), str(row.get("meterName"))
    return (
        row.get("armRegionName") == region
        and row.get("currencyCode") == "USD"
        and row.get("unitOfMeasure") == "1 Hour"
        and row.get("type") == "Consumption"
        and row.get("isPrimaryMeterRegion") is not False
        and not row.get("tierMinimumUnits")
        and not any(word in product for word in OTHER_PRODUCTS)
        and not any(word in meter for word in OTHER_METERS)
    )


def _page(content: object, url: str) -> tuple[list[MeterRow], str | None]:
    """The rows of a page, and the address of the next one."""
    items = content.get("Items") if isinstance(content, dict) else None
    if not isinstance(content, dict) or not isinstance(items, list):
        raise DownloadError(f"{url}: the answer is not a price list")
    following = content.get("NextPageLink")
    return [row for row in items if isinstance(row, dict)], following if isinstance(following, str) else None


def _with_port(address: str, like: str) -> str:
    """An address with the port written out, if `like` does so: the service says prices.azure.com:443 in its links."""
    parts = urlsplit(address)
    if urlsplit(like).port == 443 and parts.scheme == "https" and parts.port is None:
        return parts._replace(netloc=f"{parts.netloc}:443").geturl()
    return address
