"""A download under a temporary name, resumed after an interruption and checked at the end."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpufleet.errors import UserError
from gpufleet.jobs.file_transfer import PART_SUFFIX, checksum


@dataclass(frozen=True)
class RemoteFile:
    """A file's properties in the storage account. changed: seconds since 1970. etag: of this content. md5: in
    hexadecimal digits, None if its writer has not set it."""

    size: int
    changed: int
    etag: str
    md5: str | None


class PartialDownload:
    """One file, from what is known of it there. Errors of this machine's disk are UserError.

    What has arrived is in NAME.gpufleet-part-MARK, of the content's etag: it is never the beginning of other content.
    """

    def __init__(self, file: Path, known: RemoteFile) -> None:
        self._file, self._known = file, known
        mark = hashlib.sha256(known.etag.encode()).hexdigest()[:8]
        self._part = file.with_name(f"{file.name}{PART_SUFFIX}-{mark}")
        self.has = 0

    @property
    def is_complete(self) -> bool:
        """Whether the file is here already: by its checksum, else by its size and time of change."""
        known = self._known
        if not self._file.is_file() or self._file.stat().st_size != known.size:
            return False
        if known.md5 is not None:
            return checksum(self._file, kind="md5") == known.md5
        return int(self._file.stat().st_mtime) == known.changed

    def resume_offset(self) -> int:
        """How many bytes of it are here; makes the directories that it is going to lie in."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            size = self._part.stat().st_size if self._part.is_file() else 0
            if size > self._known.size:
                self._part.unlink()
                size = 0
        except OSError as error:
            raise _disk(error, self._file) from error
        self.has = size
        return size

    def append(self, pieces: Iterator[bytes]) -> Iterator[int]:
        """Append pieces, which begin where `resume_offset` said; the length of each."""
        try:
            file = self._part.open("ab")
        except OSError as error:
            raise _disk(error, self._part) from error
        with file:
            for piece in pieces:
                try:
                    file.write(piece)
                    file.flush()
                except OSError as error:
                    raise _disk(error, self._part) from error
                self.has += len(piece)
                yield len(piece)

    def finish(self, path: str) -> None:
        """Give it its name and its time of change. Errors: UserError where its bytes are not those that are there."""
        if self.has != self._known.size or (
            self._known.md5 is not None and checksum(self._part, kind="md5") != self._known.md5
        ):
            self._part.unlink()
            raise UserError(f"{path}: what arrived is not what is there; is somebody writing to it? get it again")
        try:
            os.utime(self._part, (self._known.changed, self._known.changed))
            self._part.replace(self._file)
        except OSError as error:
            raise _disk(error, self._file) from error


def _disk(error: OSError, file: Path) -> UserError:
    return UserError(f"{error.filename or file}: {error.strerror or error}; give another directory")
