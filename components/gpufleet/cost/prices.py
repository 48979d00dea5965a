"""Prices as the catalog has them, with source and date; a price that it lacks is unknown, never zero."""

from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.catalog import AwsGpuType, AzureGpuSize, Catalog, aws, azure
from gpufleet.cost.line_item import PriceTag

NODE_SERVICE = {"aws": "ec2", "azure": "virtual-machines"}
"""Under which service the catalog keeps machines without GPU."""


def catalog_of(cloud: str) -> Catalog[AwsGpuType] | Catalog[AzureGpuSize]:
    """The catalog of a cloud, aws or azure."""
    return aws() if cloud == "aws" else azure()


def node_price(cloud: str, type_name: str, region: str | None, market: str = "on-demand") -> PriceTag:
    """Price of one node for one hour. market: on-demand, or capacity-block, of which the catalog has none so far."""
    of = f"{type_name} in {region or 'a region that is not known'}"
    of = of if market == "on-demand" else f"{of} ({market})"
    catalog = catalog_of(cloud)
    if region is None:
        return PriceTag(of, "hour", None, node=True)
    if record := catalog.prices.get((type_name, region, market)):
        return PriceTag(of, "hour", record.usd_per_hour, record.source, record.as_of, node=True)
    if market == "on-demand" and (service := catalog.service_prices.get((NODE_SERVICE[cloud], type_name, region))):
        return PriceTag(of, "hour", service.usd, service.source, service.as_of, node=True)
    return PriceTag(of, "hour", None, node=True)


def service_price(cloud: str, service: str, item: str, region: str | None, unit: str) -> PriceTag:
    """Price of one `unit` of an item of a service."""
    of = f"{service} {item} in {region or 'a region that is not known'}"
    record = catalog_of(cloud).service_prices.get((service, item, region)) if region else None
    if record is None:
        return PriceTag(of, unit, None)
    return PriceTag(of, record.unit, record.usd, record.source, record.as_of)


@dataclass(frozen=True, slots=True)
class SpotRange:
    """What Spot nodes of a pool's types cost by the catalog: USD for one hour of one node. Never a budget's number."""

    low: float
    high: float
    as_of: str


def highest_price(tags: Sequence[PriceTag]) -> PriceTag:
    """The highest of several prices; unknown when any of them is, because the highest then is not known."""
    unknown = next((tag for tag in tags if tag.usd is None), None)
    return unknown or max(tags, key=lambda tag: tag.usd or 0.0)


def spot_range(cloud: str, types: Sequence[str], region: str | None) -> SpotRange | None:
    """The catalog's Spot prices of these types in a region, lowest to highest; None if it has none."""
    records = [catalog_of(cloud).spot_prices.get((name, region)) for name in types if region]
    found = [record for record in records if record is not None]
    if not found:
        return None
    low, high = min(each.usd_low for each in found), max(each.usd_high for each in found)
    return SpotRange(low, high, min(each.as_of for each in found))
