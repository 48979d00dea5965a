"""Files on their way to and from an environment's storage: what is told of each, and where each belongs."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from gpufleet.errors import UserError

PART = ".gpufleet-part"
"""What is not whole yet has its file's name with this behind it."""
PIECE = 65536

Progress = Callable[[str, int, int], None]
"""Told a path, the bytes of it that are there, and its size."""


@dataclass(frozen=True)
class ListedFile:
    """A file: its size in bytes, when it was changed in seconds since 1970, and its path in the environment."""

    size: int
    changed: int
    path: str


@dataclass(frozen=True)
class UploadedFile:
    """One file, transferred. moved: bytes that really went over the network, 0 where it was there already."""

    path: str
    size: int
    moved: int


def sources(local: Path, remote: str) -> Iterator[tuple[Path, str]]:
    """A file, or all files of a directory, each with its path in the environment. Errors: UserError for what is none.

    remote: a path that ends with / is a directory.
    """
    if local.is_dir():
        for file in sorted(each for each in local.rglob("*") if each.is_file()):
            yield file, str(PurePosixPath(remote) / file.relative_to(local).as_posix())
    elif local.is_file():
        yield local, f"{remote}{local.name}" if remote.endswith("/") else remote
    else:
        raise UserError(f"{local}: there is no such file or directory here")


def target(path: str, base: str, local: Path) -> Path:
    """Where a file that was found below `base` belongs here: below `local`, or as `local` where it is `base` itself."""
    if path != base:
        return local / PurePosixPath(path).relative_to(base)
    return local / PurePosixPath(base).name if local.is_dir() else local


def digest(file: Path, size: int | None = None, kind: str = "sha256") -> str:
    """Checksum of a file, or of its first bytes, in hexadecimal digits. kind: sha256 or md5."""
    found, left = hashlib.new(kind, usedforsecurity=False), size
    with file.open("rb") as content:
        while piece := content.read(PIECE if left is None else min(PIECE, left)):
            found.update(piece)
            left = None if left is None else left - len(piece)
    return found.hexdigest()
