"""Azure's part of a refresh: prices from the public list; zones and hardware from a subscription, if any."""

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import AzureGpuSize, Price, Record, ServicePrice
from gpufleet.catalog.refresh.azure_management import ADDRESS as MANAGEMENT
from gpufleet.catalog.refresh.azure_management import Management, NotAllowedError, open_management
from gpufleet.catalog.refresh.azure_prices import ADDRESS as RETAIL_PRICES
from gpufleet.catalog.refresh.azure_prices import RegionPrices, read_rows, region_prices
from gpufleet.catalog.refresh.azure_services import fetch_services
from gpufleet.catalog.refresh.azure_skus import RegionSkus, read_skus
from gpufleet.catalog.refresh.downloads import Downloads
from gpufleet.catalog.refresh.result import FetchResult, merge_records, spot_ranges

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

MACHINES = "virtual-machines"
"""Service under which service_prices.json keeps machines without GPU."""


def fetch(
    current: Catalog[AzureGpuSize],
    regions: Sequence[str],
    downloads: Downloads,
    today: date,
    *,
    prices: str = RETAIL_PRICES,
    management: str = MANAGEMENT,
    credential: "TokenCredential | None" = None,
) -> FetchResult:
    """See gpufleet.catalog.refresh.Fetch. Zones are those that the subscription may use, by its own numbers.

    prices, management: addresses of the two services. credential: default: what DefaultAzureCredential finds.
    Raises DownloadError if the price list cannot be read or has no machines for a region.
    """
    machines = {item for service, item, _ in current.service_prices if service == MACHINES}
    wanted = {*current.types, *machines}
    rates = [region_prices(read_rows(downloads, region, prices), region, wanted, today) for region in regions]
    files, notes = _priced(current, rates, machines, today)
    # A region without zones is not one of the catalog's regions.
    located = [region for region in regions if region in current.regions]
    services, unread = fetch_services(located, downloads, today, prices)
    files["service_prices.json"] = merge_records(files["service_prices.json"], services, lambda _: False)
    notes += unread
    try:
        reader = open_management(credential, management)
        skus = [read_skus(reader, region, current.types) for region in regions]
    except NotAllowedError as error:
        return FetchResult(files, [*notes, f"prices only; zones, offers and hardware stay as they were: {error}"])
    by_subscription, more = _located(current, skus, reader, today)
    return FetchResult({**files, **by_subscription}, [*notes, *more])


def _priced(
    current: Catalog[AzureGpuSize], rates: Sequence[RegionPrices], machines: set[str], today: date
) -> tuple[dict[str, Sequence[Record]], list[str]]:
    """The files with prices, and a line for each price that the list contradicts.

    A price that the list no longer has stays for a retired size, and so does a record that says that none is known.
    """
    day, regions = today.isoformat(), {each.region for each in rates}
    on_demand = {(name, each.region): usd for each in rates for name, usd in each.on_demand.items()}
    spot = [(name, each.region, usd) for each in rates for name, usd in each.spot if name in current.types]
    new = [
        Price(name, region, "on-demand", usd, RETAIL_PRICES, day)
        for (name, region), usd in on_demand.items()
        if name in current.types
    ]
    # The catalog does not have regions without zones, nor their prices of what surrounds a pool.
    others = [
        ServicePrice(MACHINES, name, region, "hour", usd, RETAIL_PRICES, day)
        for (name, region), usd in on_demand.items()
        if name in machines and region in current.regions
    ]
    kept = {name for name, size in current.types.items() if size.retired}
    prices = merge_records(
        current.prices.values(),
        new,
        lambda old: old.region in regions and old.usd_per_hour is not None and old.type not in kept,
    )
    ranges = merge_records(
        current.spot_prices.values(),
        spot_ranges(spot, on_demand, RETAIL_PRICES, day),
        lambda old: old.region in regions,
    )
    services = merge_records(
        current.service_prices.values(), others, lambda old: old.service == MACHINES and old.region in regions
    )
    notes = [
        f"{each.region}: {name} is listed with several prices ({', '.join(f'{usd:g}' for usd in several)} USD), "
        "so none is used"
        for each in rates
        for name, several in each.doubtful.items()
    ]
    return {"prices.json": prices, "spot_prices.json": ranges, "service_prices.json": services}, notes


def _located(
    current: Catalog[AzureGpuSize], skus: Sequence[RegionSkus], reader: Management, today: date
) -> tuple[dict[str, Sequence[Record]], list[str]]:
    """The files with zones, offers and hardware, and a line for each thing that a person must look at."""
    source = f"ResourceSkus of Microsoft.Compute, as subscription {reader.subscription} sees it"
    day, regions = today.isoformat(), {each.region for each in skus}
    offers = merge_records(
        current.offers.values(),
        [offer for each in skus for offer in each.offers(source, day)],
        lambda old: old.region in regions,
    )
    zones = merge_records(
        [zone for known in current.regions.values() for zone in known.values()],
        [zone for each in skus for zone in each.zones(source, day)],
        lambda _: False,
    )
    sizes = merge_records(
        current.types.values(),
        [size for each in skus for size in each.sizes(current.types, source, day)],
        lambda _: False,
    )
    quotas = merge_records(
        current.quotas.values(), [quota for each in skus for quota in each.quotas(source, day)], lambda _: False
    )
    files: dict[str, Sequence[Record]] = {
        "zone_offers.json": offers,
        "zones.json": zones,
        "instance_types.json": sizes,
        "quotas.json": quotas,
    }
    return files, [note for each in skus for note in each.notes(current.types, today)]
