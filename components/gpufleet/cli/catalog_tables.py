"""The catalog's records as tables on a terminal."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from typing import TYPE_CHECKING

from rich.console import Console

from gpufleet.catalog import AwsGpuType, AzureGpuSize, Catalog, GpuType
from gpufleet.catalog.quota_family import quotas_of
from gpufleet.catalog.records import Record
from gpufleet.catalog.search import Match
from gpufleet.rules.messages import format_zones
from gpufleet.terminal import Column, print_notes, print_table, wide_console

if TYPE_CHECKING:
    from gpufleet.catalog.refresh import Downloads

UNKNOWN = "unknown"
USD, USD_OF_A_GPU = Column("USD/h", right=True), Column("a GPU", 1, right=True)
PLACES = [Column("region"), Column("zones"), USD, USD_OF_A_GPU, Column("Spot USD/h", right=True), Column("as of", 2)]
MATCHES = [
    Column("type"),
    Column("GPUs"),
    Column("region"),
    USD,
    USD_OF_A_GPU,
    Column("Spot USD/h", 2, right=True),
    Column("GiB", 3, right=True),
    Column("more", 4, right=True, name="more regions"),
    Column("zones", 5),
    Column("as of", 6),
]


def show_type(
    cloud: str, known: Catalog[AwsGpuType] | Catalog[AzureGpuSize], name: str, today: date, *, wide: bool
) -> None:
    """Hardware, then a line for each region that offers the type or has a price for it."""
    record = known.types[name]
    facts = list(_facts(record, known))
    places: list[tuple[str, ...]] = []
    sources: list[str] = []
    for region in sorted({*known.regions_with(name), *(region for each, region, _ in known.prices if each == name)}):
        price = known.prices.get((name, region, "on-demand"))
        usd = price.usd_per_hour if price else None
        if price and price.source not in sources:
            sources.append(price.source)
        places.append(
            (
                region,
                format_zones(known.zones_with(name, region)) or "none",
                _usd(usd),
                _usd(None if usd is None else usd / record.gpus),
                _range(known.spot_range(name, region)),
                f"{_age(price, today)} [{sources.index(price.source) + 1}]" if price else "",
            )
        )
    # Only now, when every file could be read: an error comes alone.
    console = wide_console()
    console.print(f"{name} ({cloud}): {record.gpus} x {record.gpu_model}, {_gib(record.gpu_memory_mib)} each")
    if record.retired:
        console.print(f"retired {record.retired}: use {record.successor or 'a current type'} instead")
    longest = max(len(what) for what, _ in facts)
    for what, value in facts:
        console.print(f"{what:<{longest}}  {value}")
    print_table(PLACES, places, console, wide=wide)
    for number, source in enumerate(sources, start=1):
        console.print(f"[{number}] {source}")


def show_matches(matches: Sequence[tuple[Match, int]], today: date, *, wide: bool) -> None:
    """One line for each match. With each comes in how many regions there are more."""
    console = wide_console()
    rows = [
        (
            match.record.type,
            f"{match.record.gpus} x {match.record.gpu_model}",
            match.region,
            _usd(match.usd),
            _usd(match.usd_per_gpu),
            _range(match.spot),
            _gib(match.record.gpu_memory_mib).removesuffix(" GiB"),
            f"+{more}" if more else "",
            format_zones(match.zone_ids),
            _age(match.price, today) if match.price else "",
        )
        for match, more in matches
    ]
    print_table(MATCHES, rows, console, wide=wide)
    if any(more for _, more in matches):
        print_notes(["more: in so many other regions, not for less; see `gpufleet catalog show TYPE`"], console)


@contextmanager
def downloading(cloud: str) -> Iterator["Downloads"]:
    """Downloads that show on stderr how far they are, while that is a terminal."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    from gpufleet.catalog.refresh import Downloads

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(cloud, total=None)

        def step(url: str, done: int, total: int | None) -> None:
            progress.update(task, description=f"{cloud}: {url.split('?')[0][-60:]}", completed=done, total=total)

        yield Downloads(step)


def _facts(record: GpuType, known: Catalog[AwsGpuType] | Catalog[AzureGpuSize]) -> Iterator[tuple[str, str]]:
    yield "vCPU, memory", f"{record.vcpus} vCPU ({record.architecture}), {record.memory_gib} GiB"
    if isinstance(record, AwsGpuType):
        speed = _speed(record.network_gbps, "up to " if record.network_burst else "")
        cards = f"{record.network_cards} card{'s' if record.network_cards > 1 else ''}"
        yield "network", f"{speed}, {cards}, {record.efa_interfaces or 'no'} EFA"
        yield "Capacity Blocks", "sold" if record.capacity_block else "not sold"
    elif isinstance(record, AzureGpuSize):
        yield "network", f"{_speed(record.network_gbps)}, InfiniBand: {record.infiniband or 'none'}"
    codes = [f"{quota.market} {quota.code}" for quota in quotas_of(known.quotas, record)]
    yield "quota", f"{record.quota_family}: {record.vcpus} vCPU a node" + (f" ({', '.join(codes)})" if codes else "")
    if record.note:
        yield "note", record.note
    yield "source", f"{record.source}, {record.as_of}"


def _speed(gbps: float | None, before: str = "") -> str:
    return UNKNOWN if gbps is None else f"{before}{gbps:g} Gbps"


def _gib(mib: int | None) -> str:
    return UNKNOWN if mib is None else f"{mib / 1024:.4g} GiB"


def _usd(usd: float | None) -> str:
    return UNKNOWN if usd is None else f"{usd:.2f}" if usd >= 10 else f"{usd:.4f}"


def _range(spot: tuple[float, float] | None) -> str:
    if spot is None:
        return UNKNOWN
    low, high = spot
    return f"{low:.2f}" if low == high else f"{low:.2f}..{high:.2f}"


def _age(record: Record, today: date) -> str:
    as_of: str = getattr(record, "as_of", "")
    return f"{as_of}, old" if record.is_old(today) else as_of
