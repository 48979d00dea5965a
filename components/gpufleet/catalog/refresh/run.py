"""A refresh: read a cloud, write its files, report what changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import GpuType
from gpufleet.catalog.refresh.diff import CatalogDiff, CatalogSnapshot, diff_snapshots
from gpufleet.catalog.refresh.downloads import Downloads
from gpufleet.catalog.refresh.result import Fetch
from gpufleet.catalog.refresh.writer import write_files

T = TypeVar("T", bound=GpuType)


@dataclass(frozen=True)
class RefreshOutcome:
    """What a refresh changed, and notes on what stayed as it was and why."""

    notes: Sequence[str]
    changes: Sequence[CatalogDiff]

    def lines(self) -> list[str]:
        """For a person."""
        return [*self.notes, *(line for each in self.changes for line in each.lines())]


def refresh(
    current: Catalog[T], fetch: Fetch[T], regions: Sequence[str], to: Path, downloads: Downloads, today: date
) -> RefreshOutcome:
    """Read a cloud's lists and write to the folder `to`. Raises UserError, with all old files as they were."""
    before = CatalogSnapshot.of(current)
    fetched = fetch(current, regions, downloads, today)
    write_files(to, fetched.files, current, today.isoformat())
    after = CatalogSnapshot.of(Catalog(current.folder, current.kind, to))
    return RefreshOutcome(fetched.notes, diff_snapshots(before, after))
