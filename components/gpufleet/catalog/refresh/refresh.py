"""The whole of a refresh: read a cloud, write its files, say what changed."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import TypeVar

from gpufleet.catalog.catalog import Catalog
from gpufleet.catalog.records import GpuType
from gpufleet.catalog.refresh.changes import Held, changes
from gpufleet.catalog.refresh.downloads import Downloads
from gpufleet.catalog.refresh.fetched import Fetch
from gpufleet.catalog.refresh.writing import write_files

T = TypeVar("T", bound=GpuType)


def refresh(
    current: Catalog[T], fetch: Fetch[T], regions: Sequence[str], to: Path, downloads: Downloads, today: date
) -> list[str]:
    """Read a cloud anew, write to the folder `to`, and say in lines what changed and what stayed as it was, and why.

    Raises UserError, with all old files as they were.
    """
    before = Held.of(current)
    fetched = fetch(current, regions, downloads, today)
    write_files(to, fetched.files, current, today.isoformat())
    after = Held.of(Catalog(current.folder, current.kind, to))
    return [*fetched.notes, *(line for each in changes(before, after) for line in each.lines())]
