"""Files of an environment's file shares: put, get and list over HTTPS, with resume and checksums.

A file is sent as NAME.gpufleet-part, piece by piece with the MD5 of each, and takes its name when it is whole. What an
interrupted copy has left is gone on with, if it was begun with the same content. The MD5 of the whole and the time of
change that the file had here are kept with it: once a node writes it, that time is another, and the MD5 is no longer
believed.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_storage.errors import NOT_FOUND_CODES, error_code, storage_errors
from gpufleet.jobs.azure_storage.file_store import FileStore
from gpufleet.jobs.azure_storage.partial_download import RemoteFile
from gpufleet.jobs.azure_storage.paths import StoragePath
from gpufleet.jobs.file_transfer import PART_SUFFIX, ListedFile

_PIECE = 4 * 2**20
"""Bytes of one range, at most. Source: learn.microsoft.com/rest/api/storageservices/put-range."""
_MD5, _WRITTEN = "gpufleet_md5", "gpufleet_written"
"""Metadata of a file that was put: its MD5, and its time of change in seconds since 1970."""


@dataclass
class ShareFiles(FileStore):
    """The file shares of one account, by its ShareServiceClient. piece: bytes."""

    piece: int = _PIECE
    _made: set[tuple[str, str]] = field(default_factory=set, init=False)

    def list_files(self, place: StoragePath) -> list[ListedFile]:
        """Files at and below a path, by name, not those that are on their way. Errors: UserError."""
        if place.path and (known := self._known(place)):
            return [ListedFile(known.size, known.changed, place.full)]
        with storage_errors(self.storage, place, writes=False):
            return sorted(self._below(place), key=lambda each: each.path)

    def _below(self, place: StoragePath) -> Iterator[ListedFile]:
        directories = [place.path]
        while directories:
            path = directories.pop()
            directory = self.service.get_share_client(place.root).get_directory_client(path)
            for each in directory.list_directories_and_files(include=["timestamps"]):
                inside = f"{path}/{each.name}" if path else each.name
                if each.is_directory:
                    directories.append(inside)
                elif not each.name.endswith(PART_SUFFIX):
                    changed = _seconds(each.last_write_time)
                    yield ListedFile(int(each.size), changed, f"{place.root}/{inside}")

    def _known(self, place: StoragePath, writes: bool = False, written: bool = True) -> RemoteFile | None:
        """What is known of a file; None where there is none. written: its MD5 only where nobody has written it since.

        Errors: as of `storage_errors`.
        """
        try:
            with storage_errors(self.storage, place, writes):
                found = self._client(place).get_file_properties()
        except AzureBatchError as error:
            if error.code not in NOT_FOUND_CODES:
                raise
            return None
        changed, metadata = _seconds(found.last_write_time), found.metadata or {}
        same = not written or metadata.get(_WRITTEN) == str(changed)
        return RemoteFile(int(found.size), changed, str(found.etag), metadata.get(_MD5) if same else None)

    def _send(self, file: Path, size: int, whole: str, place: StoragePath) -> Iterator[int]:
        part = StoragePath(place.kind, place.root, place.path + PART_SUFFIX)
        for sent, done in self._ranges(file, size, whole, part):
            yield sent
            self.progress(place.full, done, size)
        self._client(part).rename_file(
            place.path, overwrite=True, file_last_write_time=_changed(file), metadata=_metadata(file, whole)
        )

    def _ranges(self, file: Path, size: int, whole: str, part: StoragePath) -> Iterator[tuple[int, int]]:
        """Send what a part lacks of a file; bytes of each piece that was sent, and up to its end."""
        client, read = self._client(part), hashlib.md5(usedforsecurity=False)
        begin = self._begun(part, size, whole)
        if begin is None:
            self._directories(part)
            client.create_file(size, file_last_write_time=_changed(file), metadata=_metadata(file, whole))
            begin = 0
        done = 0
        with file.open("rb") as content:
            while piece := content.read(self.piece):
                read.update(piece)
                done += len(piece)
                if done > begin:
                    # The time of change stays that of the file here.
                    client.upload_range(
                        piece, done - len(piece), len(piece), validate_content=True, file_last_write_mode="preserve"
                    )
                    yield len(piece), done
        if read.hexdigest() != whole:
            raise UserError(f"{file}: has changed while it was sent; put it again when nobody writes it")

    def _begun(self, part: StoragePath, size: int, whole: str) -> int | None:
        """Bytes from its beginning that a part already has of this very content; None where it must be made again."""
        known = self._known(part, writes=True, written=False)
        if known is None or known.size != size or known.md5 != whole:
            return None
        first = next(iter(self._client(part).list_ranges()), None)
        return int(first.end) + 1 if first and first.start == 0 else 0

    def _directories(self, place: StoragePath) -> None:
        """Make the directories that a file lies in. A share stores them as separate items."""
        from azure.core.exceptions import ResourceExistsError

        for parent in reversed(PurePosixPath(place.path).parents[:-1]):
            if (place.root, str(parent)) in self._made:
                continue
            try:
                self.service.get_share_client(place.root).create_directory(str(parent))
            except ResourceExistsError as error:
                if error_code(error) != "ResourceAlreadyExists":
                    raise
            self._made.add((place.root, str(parent)))

    def _pieces(self, place: StoragePath, known: RemoteFile, begin: int) -> Iterator[bytes]:
        for start in range(begin, known.size, self.piece):
            length = min(self.piece, known.size - start)
            yield self._client(place).download_file(start, length, validate_content=True).readall()

    def _arrived(self, place: StoragePath, known: RemoteFile) -> None:
        """A file of a share cannot be read on condition that it has not changed. One that has only grown, as logs do,
        is taken as it was. Errors: UserError."""
        now = self._known(place)
        if now is None or (now.etag != known.etag and (now.size < known.size or known.md5 is not None)):
            raise UserError(f"{place.full}: has changed in the meantime; get it again")

    def _client(self, place: StoragePath) -> Any:  # noqa: ANN401
        return self.service.get_share_client(place.root).get_file_client(place.path)


def _metadata(file: Path, whole: str) -> dict[str, str]:
    return {_MD5: whole, _WRITTEN: str(int(file.stat().st_mtime))}


def _changed(file: Path) -> datetime:
    """When a file was changed, in whole seconds."""
    return datetime.fromtimestamp(int(file.stat().st_mtime), UTC)


def _seconds(time: datetime | str) -> int:
    """A time of the SDK's, in seconds since 1970. In listings it is a text, and has seven digits of a second."""
    return int((datetime.fromisoformat(time) if isinstance(time, str) else time).timestamp())
