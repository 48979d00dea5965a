"""What one cloud gives in a refresh: whole files of records, and what it could not give."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol, TypeVar

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import GpuType, Record, SpotPrice
from gpufleet.catalog.refresh.downloads import Downloads

R = TypeVar("R", bound=Record)
T = TypeVar("T", bound=GpuType)


@dataclass(frozen=True)
class FetchResult:
    """files: all records that a file is to hold, by its name; a file that is not named stays as it is.

    notes: one line for each thing that stays as it was, and why (no credentials, a refusal).
    """

    files: Mapping[str, Sequence[Record]]
    notes: Sequence[str] = ()


class Fetch(Protocol[T]):
    """Read a cloud's lists. current: the catalog so far, whose records stay where nothing newer is found.

    regions: only these. today: the date of records without a date. Raises UserError (DownloadError for the network)
    when prices cannot be read; missing credentials or permissions are a note, and prices come all the same.
    """

    def __call__(
        self, current: Catalog[T], regions: Sequence[str], downloads: Downloads, today: date
    ) -> FetchResult: ...


def merge_records(current: Iterable[R], new: Iterable[R], replaced: Callable[[R], bool]) -> list[R]:
    """The new records, and those current ones that are neither `replaced` nor in the new lists; sorted by key."""
    by_key = {_key(record): record for record in current if not replaced(record)}
    by_key.update({_key(record): record for record in new})
    return [by_key[key] for key in sorted(by_key)]


def spot_ranges(
    found: Iterable[tuple[str, str, float]], on_demand: Mapping[tuple[str, str], float | None], source: str, as_of: str
) -> list[SpotPrice]:
    """Ranges by type and region, from single Spot prices: (type, region, USD for one hour).

    Public lists hold placeholders, which are dropped: a price equal to the on-demand price, and one below a twentieth
    of it, which no cloud offers ("up to 90 %" off).
    """
    seen: dict[tuple[str, str], list[float]] = {}
    for type_name, region, usd in found:
        full = on_demand.get((type_name, region))
        # Lists round Spot prices to four places, on-demand prices to five or six.
        if usd > 0 and (full is None or (usd >= full / 20 and abs(usd - full) > 0.0001)):
            seen.setdefault((type_name, region), []).append(usd)
    return [SpotPrice(*key, min(usd), max(usd), source, as_of) for key, usd in sorted(seen.items())]


def _key(record: Record) -> tuple[str, ...]:
    return tuple(getattr(record, field) for field in record.KEY)
