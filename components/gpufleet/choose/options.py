"""Options for a run: of each type that fits, how many nodes in which region, what they cost, and in which order."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from gpufleet.catalog import AwsGpuType, AzureGpuSize, Catalog
from gpufleet.catalog.interconnect import Interconnect, interconnect_of
from gpufleet.catalog.quota_family import quotas_of
from gpufleet.catalog.records import Record
from gpufleet.catalog.search import Match, SearchCriteria, cheapest, find
from gpufleet.choose.onprem_servers import PricedServers
from gpufleet.choose.scaling import Range, Workload, run_hours, stretch

OWN_SERVERS = "own"
"""What stands for a cloud where servers are one's own."""


@dataclass(frozen=True, slots=True)
class RunRequirements:
    """What a run needs.

    gpu_memory_gib: of each GPU, as the cloud reports it. hours: on so many GPUs, without exchange between nodes.
    budget: USD for the run, None = no limit. clouds, regions: where it may be, empty = anywhere. spot: whether Spot may
    be used. min_gbps, fabric: of the network between nodes, asked of options with several nodes only.
    """

    gpus: int
    hours: float
    gpu_memory_gib: float | None = None
    gpu_model: str | None = None
    budget: float | None = None
    clouds: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    spot: bool = False
    min_gbps: float | None = None
    fabric: bool = False
    work: Workload | None = None


@dataclass(frozen=True, slots=True)
class QuotaNeed:
    """Quota that an option takes. code: None where the catalog has none."""

    family: str
    market: str
    code: str | None
    vcpus: int


@dataclass(frozen=True, slots=True)
class Option:
    """One way to have the GPUs. usd_per_hour and spot_per_hour are of one node. None = not known.

    more_regions: how many other regions have the type, not for less. price_source, as_of: of usd_per_hour.
    hours: of the run, exchange included; equal ends where no workload was given, which are the hours asked for.
    """

    cloud: str
    type: str
    region: str
    more_regions: int
    gpu_model: str
    gpu_memory_gib: float
    architecture: str | None
    gpus_a_node: int
    nodes: int
    gpus_asked: int
    network: Interconnect
    zone_ids: tuple[str, ...] | None
    usd_per_hour: float | None
    spot_per_hour: tuple[float, float] | None
    price_source: str | None
    as_of: str | None
    price_is_old: bool
    quotas: tuple[QuotaNeed, ...]
    hours: Range | None
    stretch: Range | None
    budget: float | None

    @property
    def gpus(self) -> int:
        """GPUs paid for."""
        return self.nodes * self.gpus_a_node

    @property
    def usd(self) -> Range | None:
        """USD of the run at the on-demand price, fastest to slowest; None if price or length is unknown."""
        if self.usd_per_hour is None or self.hours is None:
            return None
        an_hour = self.nodes * self.usd_per_hour
        return Range(an_hour * self.hours.fast, an_hour * self.hours.slow)

    @property
    def spot_usd(self) -> Range | None:
        """USD of the run at the catalog's Spot prices, never a budget's number."""
        if self.spot_per_hour is None or self.hours is None:
            return None
        low, high = self.spot_per_hour
        return Range(self.nodes * low * self.hours.fast, self.nodes * high * self.hours.slow)

    @property
    def verdict(self) -> str:
        """Whether it is within the budget: yes, at best (the fast end only), no, unknown; "" without a budget."""
        if self.budget is None:
            return ""
        if self.usd is None:
            return "unknown"
        if self.usd.slow <= self.budget:
            return "yes"
        return "at best" if self.usd.fast <= self.budget else "no"

    @property
    def order(self) -> tuple[object, ...]:
        """What fits the budget first; then by the price of the slow end, then fewer nodes. Unknown prices last."""
        rank = {"yes": 0, "": 0, "at best": 1, "no": 2, "unknown": 3}[self.verdict]
        usd = math.inf if self.usd is None else self.usd.slow
        return (rank, usd, self.nodes, self.cloud, self.type, self.region)


Catalogs = Mapping[str, Catalog[AwsGpuType] | Catalog[AzureGpuSize]]


def options_for(
    ask: RunRequirements, catalogs: Catalogs, servers: Sequence[PricedServers], today: date
) -> list[Option]:
    """Every option, best first: of each type the cheapest region that is allowed. catalogs: by cloud."""
    found = [*_rented(ask, catalogs, today), *_own(ask, servers)]
    return sorted((option for option in found if _joined(option, ask)), key=lambda option: option.order)


def _joined(option: Option, ask: RunRequirements) -> bool:
    """Whether several nodes have the network that is asked for; one node needs none, and unknown does not hold it."""
    if option.nodes == 1:
        return True
    enough = ask.min_gbps is None or (option.network.gbps is not None and option.network.gbps >= ask.min_gbps)
    return enough and (option.network.fabric or not ask.fabric)


def _rented(ask: RunRequirements, catalogs: Catalogs, today: date) -> Iterator[Option]:
    allowed = {cloud: catalog for cloud, catalog in catalogs.items() if not ask.clouds or cloud in ask.clouds}
    matches = find(allowed, SearchCriteria(gpu_model=ask.gpu_model, gpu_memory_gib=ask.gpu_memory_gib))
    matches = [match for match in matches if not ask.regions or match.region in ask.regions]
    for match, more in cheapest(matches):
        record = match.record
        nodes = math.ceil(ask.gpus / record.gpus)
        network = interconnect_of(record)
        yield Option(
            cloud=match.cloud,
            type=record.type,
            region=match.region,
            more_regions=more,
            gpu_model=record.gpu_model,
            gpu_memory_gib=(record.gpu_memory_mib or 0) / 1024,
            architecture=record.architecture,
            gpus_a_node=record.gpus,
            nodes=nodes,
            gpus_asked=ask.gpus,
            network=network,
            zone_ids=match.zone_ids,
            usd_per_hour=match.usd,
            spot_per_hour=match.spot if ask.spot else None,
            price_source=match.price.source if match.price else None,
            as_of=match.price.as_of if match.price else None,
            price_is_old=_is_old(match.price, today),
            quotas=_needs(match, catalogs[match.cloud], nodes, ask.spot),
            hours=_hours(ask, nodes, network),
            stretch=_stretch(ask, nodes, network),
            budget=ask.budget,
        )


def _own(ask: RunRequirements, servers: Sequence[PricedServers]) -> Iterator[Option]:
    """Own servers that fit and are enough."""
    if ask.clouds and OWN_SERVERS not in ask.clouds:
        return
    for each in servers:
        nodes = math.ceil(ask.gpus / each.gpus)
        fits = ask.gpu_memory_gib is None or each.gpu_memory_gib >= ask.gpu_memory_gib
        model = ask.gpu_model is None or ask.gpu_model.casefold() == each.gpu_model.casefold()
        if nodes > each.count or not fits or not model or (ask.regions and each.place not in ask.regions):
            continue
        network = Interconnect("fabric" if each.fabric else "Ethernet", each.network_gbps)
        yield Option(
            cloud=OWN_SERVERS,
            type=each.name,
            region=each.place,
            more_regions=0,
            gpu_model=each.gpu_model,
            gpu_memory_gib=each.gpu_memory_gib,
            architecture=None,
            gpus_a_node=each.gpus,
            nodes=nodes,
            gpus_asked=ask.gpus,
            network=network,
            zone_ids=(),
            usd_per_hour=each.usd_per_hour,
            spot_per_hour=None,
            price_source="the list of own servers" if each.usd_per_hour is not None else None,
            as_of=None,
            price_is_old=False,
            quotas=(),
            hours=_hours(ask, nodes, network),
            stretch=_stretch(ask, nodes, network),
            budget=ask.budget,
        )


def _stretch(ask: RunRequirements, nodes: int, network: Interconnect) -> Range | None:
    return stretch(nodes, ask.work, network.gbps) if ask.work else None


def _hours(ask: RunRequirements, nodes: int, network: Interconnect) -> Range | None:
    """Hours asked for if nothing is known of the workload, and never fewer: more GPUs than asked for stand idle."""
    if ask.work is None:
        return Range(ask.hours, ask.hours)
    return run_hours(ask.hours, nodes, nodes, ask.work, network.gbps)


def _is_old(record: Record | None, today: date) -> bool:
    return record is not None and record.is_old(today)


def _needs(
    match: Match, catalog: Catalog[AwsGpuType] | Catalog[AzureGpuSize], nodes: int, spot: bool
) -> tuple[QuotaNeed, ...]:
    """The quotas that the run takes: on demand, or on Spot where that may be used."""
    market = "spot" if spot else "on-demand"
    vcpus = nodes * match.record.vcpus
    known = [quota for quota in quotas_of(catalog.quotas, match.record) if quota.market == market]
    if not known:
        return (QuotaNeed(match.record.quota_family, market, None, vcpus),)
    return tuple(QuotaNeed(quota.family, market, quota.code, vcpus) for quota in known)
