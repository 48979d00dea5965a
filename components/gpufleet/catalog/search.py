"""Search GPU types by hardware, location and price."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import AwsGpuType, AzureGpuSize, GpuType, Price


@dataclass(frozen=True, slots=True)
class SearchCriteria:
    """What a type must have; None asks nothing. All together must hold.

    gpus: at least so many GPUs. gpu_memory_gib: at least so much memory in each, as the cloud reports it.
    zone: a zone's id. max_usd: most USD for one hour of one node on demand; an unknown price does not hold it.
    fabric: EFA on AWS, InfiniBand on Azure.
    """

    gpu_model: str | None = None
    gpus: int | None = None
    gpu_memory_gib: float | None = None
    region: str | None = None
    zone: str | None = None
    max_usd: float | None = None
    fabric: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A current type in one region. zone_ids, price: None if not known."""

    cloud: str
    record: GpuType
    region: str
    zone_ids: tuple[str, ...] | None
    price: Price | None
    spot: tuple[float, float] | None

    @property
    def usd(self) -> float | None:
        """USD for one hour of one node on demand."""
        return self.price.usd_per_hour if self.price else None

    @property
    def usd_per_gpu(self) -> float | None:
        """The same for one GPU."""
        return None if self.usd is None else self.usd / self.record.gpus

    @property
    def order(self) -> tuple[float, str, str]:
        """Cheapest GPU first, unknown prices last."""
        return (math.inf if self.usd_per_gpu is None else self.usd_per_gpu, self.record.type, self.region)


def find(catalogs: Mapping[str, Catalog[AwsGpuType] | Catalog[AzureGpuSize]], wanted: SearchCriteria) -> list[Match]:
    """Every current type in every region that holds it and has it, cheapest GPU first. catalogs: by cloud."""
    found = (match for cloud, catalog in catalogs.items() for match in _matches(cloud, catalog, wanted))
    return sorted(found, key=lambda match: match.order)


def cheapest(matches: Iterable[Match]) -> list[tuple[Match, int]]:
    """Of each type the first match, and in how many regions there are more."""
    first: dict[str, Match] = {}
    more: dict[str, int] = {}
    for match in matches:
        name = match.record.type
        more[name] = more.get(name, -1) + 1
        first.setdefault(name, match)
    return [(match, more[name]) for name, match in first.items()]


def _matches(
    cloud: str, catalog: Catalog[AwsGpuType] | Catalog[AzureGpuSize], wanted: SearchCriteria
) -> Iterator[Match]:
    regions = {
        region
        for region, zones in catalog.regions.items()
        if wanted.region in (None, region) and (wanted.zone is None or wanted.zone in zones)
    }
    for name, record in catalog.types.items():
        if record.retired or not _fits(record, wanted):
            continue
        for region in regions.intersection(catalog.regions_with(name)):
            zones = catalog.zones_with(name, region)
            if wanted.zone is not None and zones is not None and wanted.zone not in zones:
                continue
            price = catalog.prices.get((name, region, "on-demand"))
            match = Match(cloud, record, region, zones, price, catalog.spot_range(name, region))
            if wanted.max_usd is None or (match.usd is not None and match.usd <= wanted.max_usd):
                yield match


def _fits(record: GpuType, wanted: SearchCriteria) -> bool:
    """Whether the hardware is what is wanted; memory that is not known is not."""
    memory = (record.gpu_memory_mib or 0) / 1024
    fabric = (isinstance(record, AwsGpuType) and record.efa_interfaces > 0) or (
        isinstance(record, AzureGpuSize) and record.infiniband is not None
    )
    return (
        (wanted.gpu_model is None or record.gpu_model.casefold() == wanted.gpu_model.casefold())
        and (wanted.gpus is None or record.gpus >= wanted.gpus)
        and (wanted.gpu_memory_gib is None or memory >= wanted.gpu_memory_gib)
        and (fabric or not wanted.fabric)
    )
