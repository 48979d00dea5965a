"""A researcher's program (`--script`), sent along with the job: its files are there before the job starts.

Azure Batch's nodes fetch them from the container `scripts`, AWS Batch's from the bucket of the outputs; on Slurm and on
plain hosts they lie in the job's folder.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpufleet.errors import UserError

MAX_FILES = 200
"""They are named one by one in Azure Batch's task, whose request has a size."""
MAX_BYTES = 100 * 2**20
"""A program is small; data goes by `gpufleet data put`."""
_LEFT_OUT = ("__pycache__",)


@dataclass(frozen=True)
class ProgramFile:
    """path: below where the job starts. source: here."""

    path: str
    source: Path


def program_files(job: str, given: str) -> list[ProgramFile]:
    """A file, or all files of a directory but hidden ones and caches of Python. Errors: UserError."""
    place = Path(given)
    if not place.exists():
        raise UserError(f"{job}: script={given}: file or directory not found; give one that the command uses")
    if place.is_dir():
        found = [ProgramFile(each.relative_to(place).as_posix(), each) for each in _files(place)]
    else:
        found = [ProgramFile(place.name, place)]
    if not found:
        raise UserError(f"{job}: script={given}: has no files; give a program, or a directory with one")
    size = sum(each.source.stat().st_size for each in found)
    if len(found) > MAX_FILES or size > MAX_BYTES:
        raise UserError(
            f"{job}: script={given}: has {len(found):,} files of {size:,} bytes; send {MAX_FILES} files of "
            f"at most {MAX_BYTES:,} bytes, and data with `gpufleet data put`"
        )
    return found


def _files(directory: Path) -> Iterator[Path]:
    for each in sorted(directory.iterdir()):
        if each.name.startswith(".") or each.name in _LEFT_OUT or each.is_symlink():
            continue
        if each.is_dir():
            yield from _files(each)
        elif each.is_file():
            yield each
