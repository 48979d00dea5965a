"""Writing a catalog's files so that a reader sees all old ones or all new ones, whenever it looks."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from gpufleet.catalog.catalog import COMPLETE, NEXT, Catalog
from gpufleet.catalog.loader import EDITION
from gpufleet.catalog.records import GpuType, Record

T = TypeVar("T", bound=GpuType)


def write_files(folder: Path, files: Mapping[str, Sequence[Record]], current: Catalog[T], edition: str) -> None:
    """Replace files of a folder that may not exist yet.

    files: all records of each file, by its name. current: the catalog whose other files they must fit.
    edition: the day that the folder's edition.json is to say.

    The new files are written beside the old ones and checked together with the rest; from the moment on that they are
    marked complete every reader takes them, and moving them into place can be ended at any time, by any process.
    Raises CatalogError if they do not fit, and OSError if they cannot be written; the old files hold then.
    """
    finish_write(folder)
    new = folder / NEXT
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        for name, records in files.items():
            _write(new / name, _text(records))
        _write(new / EDITION, json.dumps({"as_of": edition}) + "\n")
        StagedCatalog(current, folder, new).check()
        _write(new / COMPLETE, "")
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    finish_write(folder)


def finish_write(folder: Path) -> None:
    """Move files into place that an earlier refresh completed, but did not get to move."""
    new = folder / NEXT
    if not (new / COMPLETE).exists():
        return
    for path in sorted(new.iterdir()):
        if path.name != COMPLETE:
            path.replace(folder / path.name)
    (new / COMPLETE).unlink()
    new.rmdir()


class StagedCatalog(Catalog[T]):
    """The catalog as it will be: new files first, then the folder's, then those of the current catalog."""

    def __init__(self, current: Catalog[T], folder: Path, new: Path) -> None:
        super().__init__(current.folder, current.kind)
        self._places = [place for place in (new, folder, current.refreshed, current.folder) if place is not None]

    def path(self, name: str) -> Path:
        """The first place that has the file."""
        return next((place / name for place in self._places if (place / name).exists()), self.folder / name)


def _text(records: Sequence[Record]) -> str:
    """JSON with one record per line, so that a change of one record is a change of one line."""
    lines = ",\n".join(json.dumps(asdict(record)) for record in records)
    return f"[\n{lines}\n]\n"


def _write(path: Path, text: str) -> None:
    """A whole file, on the disk before this returns: what is marked complete must survive a power cut."""
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
