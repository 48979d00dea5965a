"""Files transferred to and from an environment's storage: their paths, sizes and checksums."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gpufleet.errors import UserError

PART_SUFFIX = ".gpufleet-part"
"""Suffix of the name of an incomplete file."""
CHUNK_BYTES = 65536

Progress = Callable[[str, int, int], None]
"""Called with a path, its bytes transferred so far, and its size."""


@dataclass(frozen=True)
class ListedFile:
    """A file: its size in bytes, when it was changed in seconds since 1970, and its path in the environment."""

    size: int
    changed: int
    path: str


@dataclass(frozen=True)
class TransferredFile:
    """One file, transferred. transferred_bytes: bytes sent over the network, 0 if it was there already."""

    path: str
    size: int
    transferred_bytes: int


def files_to_upload(local: Path, remote: str) -> Iterator[tuple[Path, str]]:
    """A file, or all files of a directory, each with its path in the environment. Errors: UserError if not found.

    remote: a path that ends with / is a directory.
    """
    if local.is_dir():
        for file in sorted(each for each in local.rglob("*") if each.is_file()):
            yield file, str(PurePosixPath(remote) / file.relative_to(local).as_posix())
    elif local.is_file():
        yield local, f"{remote}{local.name}" if remote.endswith("/") else remote
    else:
        raise UserError(f"{local}: file or directory not found")


def download_path(path: str, base: str, local: Path) -> Path:
    """Where a file that was found below `base` belongs here: below `local`, or as `local` where it is `base` itself."""
    if path != base:
        return local / PurePosixPath(path).relative_to(base)
    return local / PurePosixPath(base).name if local.is_dir() else local


def checksum(file: Path, size: int | None = None, kind: str = "sha256") -> str:
    """Checksum of a file, or of its first bytes, in hexadecimal digits. kind: sha256 or md5."""
    found, left = hashlib.new(kind, usedforsecurity=False), size
    with file.open("rb") as content:
        while piece := content.read(CHUNK_BYTES if left is None else min(CHUNK_BYTES, left)):
            found.update(piece)
            left = None if left is None else left - len(piece)
    return found.hexdigest()
