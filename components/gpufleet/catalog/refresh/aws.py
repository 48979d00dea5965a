"""AWS's part of a refresh: prices from the public list; hardware, offers, zones and Spot from an account, if any."""

from collections.abc import Mapping, Sequence
from datetime import date

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import AwsGpuType, Price, Record, ServicePrice
from gpufleet.catalog.refresh.aws_account import AccountFacts, describe_account, hardware
from gpufleet.catalog.refresh.aws_prices import SITE, PriceList, read_price_list
from gpufleet.catalog.refresh.aws_services import fetch_services
from gpufleet.catalog.refresh.downloads import Downloads
from gpufleet.catalog.refresh.result import FetchResult, merge_records, spot_ranges


def fetch(
    current: Catalog[AwsGpuType], regions: Sequence[str], downloads: Downloads, today: date, site: str = SITE
) -> FetchResult:
    """See gpufleet.catalog.refresh.Fetch. site: where the price lists are."""
    lists = {region: read_price_list(downloads, region, site) for region in regions}
    seen, notes = _ask_account(current, regions, today)
    files: dict[str, Sequence[Record]] = {}
    types = dict(current.types)
    if seen:
        found = hardware((item for each in seen for item in each.types), current.types, today)
        types.update({record.type: record for record in found})
        files["instance_types.json"] = [types[name] for name in sorted(types)]
        files.update(_by_region(current, seen, lists, types, today))
    files["prices.json"] = _prices(current, lists, types)
    services, unread = fetch_services(lists, [name for name in lists if name in current.regions], downloads, site)
    files["service_prices.json"] = merge_records(_machine_prices(current, lists), services, lambda _: False)
    notes += unread
    unknown = sorted(set().union(*(each.with_gpu for each in lists.values())) - types.keys())
    if unknown:
        notes.append(f"not in the catalog, so without a price here: {', '.join(unknown)}")
    return FetchResult(files, notes)


def _ask_account(
    current: Catalog[AwsGpuType], regions: Sequence[str], today: date
) -> tuple[list[AccountFacts], list[str]]:
    """What each region answers, and a line for each that does not."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        session = boto3.Session()
        credentials = session.get_credentials()
    except BotoCoreError as error:  # a profile that is not there
        return [], [f"no AWS account: {error}; prices only, hardware, zones and Spot stay as they were"]
    if credentials is None:
        return [], ["no AWS credentials: prices only; hardware, zones and Spot stay as they were"]
    seen, notes = [], []
    for region in regions:
        try:
            client = session.client("ec2", region_name=region)
            seen.append(describe_account(client, region, today, current.regions.get(region, {})))
        except (BotoCoreError, ClientError) as error:
            reason = " ".join(str(error).split())
            notes.append(f"{region}: hardware, zones and Spot stay as they were: {reason}")
    return seen, notes


def _by_region(
    current: Catalog[AwsGpuType],
    seen: Sequence[AccountFacts],
    lists: Mapping[str, PriceList],
    types: Mapping[str, AwsGpuType],
    today: date,
) -> dict[str, Sequence[Record]]:
    """What an account says of each region takes the place of all that the catalog had of that region."""
    asked = {each.region for each in seen}
    offers = merge_records(
        current.offers.values(), [offer for each in seen for offer in each.offers], lambda old: old.region in asked
    )
    zones = merge_records(
        [zone for region in current.regions.values() for zone in region.values()],
        [zone for each in seen for zone in each.zones],
        lambda old: old.region in asked,
    )
    on_demand = {(name, region): each.usd.get(name) for region, each in lists.items() for name in types}
    found = [price for each in seen for price in each.spot]
    ranges = spot_ranges(found, on_demand, "ec2 DescribeSpotPriceHistory", today.isoformat())
    spot = merge_records(current.spot_prices.values(), ranges, lambda old: old.region in asked)
    return {"zone_offers.json": offers, "zones.json": zones, "spot_prices.json": spot}


def _prices(
    current: Catalog[AwsGpuType], lists: Mapping[str, PriceList], types: Mapping[str, AwsGpuType]
) -> list[Price]:
    """A price where the list has one; a current one stays if the list no longer has it and the type is retired."""
    new = [
        Price(name, region, "on-demand", each.usd[name], each.url, each.published)
        for region, each in lists.items()
        for name in types
        if name in each.usd
    ]
    kept = {name for name, record in types.items() if record.retired}
    return merge_records(
        current.prices.values(),
        new,
        lambda record: record.region in lists and record.usd_per_hour is not None and record.type not in kept,
    )


def _machine_prices(current: Catalog[AwsGpuType], lists: Mapping[str, PriceList]) -> list[ServicePrice]:
    """Those of machines without GPU that the catalog has in any region, for each region that was read."""
    items = {item for service, item, _ in current.service_prices if service == "ec2"}
    new = [
        ServicePrice("ec2", item, region, "hour", each.usd[item], each.url, each.published)
        for region, each in lists.items()
        for item in items
        if item in each.usd
    ]
    old = current.service_prices.values()
    return merge_records(old, new, lambda record: record.service == "ec2" and record.region in lists)
