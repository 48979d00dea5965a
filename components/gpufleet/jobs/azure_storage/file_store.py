"""Files of a storage account, whatever keeps them: put and get, with resume and checksums."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.errors import AzureBatchError, AzureBusy
from gpufleet.jobs.azure_storage.errors import CHANGED_CODES, not_found_error, storage_errors
from gpufleet.jobs.azure_storage.partial_download import PartialDownload, RemoteFile
from gpufleet.jobs.azure_storage.paths import AzureStorage, StoragePath
from gpufleet.jobs.backoff import Backoff
from gpufleet.jobs.file_transfer import ListedFile, Progress, TransferredFile, checksum, download_path, files_to_upload


@dataclass
class FileStore(ABC):
    """service: a client of the SDK's for the whole account. progress: told a path, bytes, and bytes of the whole."""

    storage: AzureStorage
    service: Any
    progress: Progress = lambda path, done, size: None
    backoff: Backoff = field(default_factory=Backoff)

    @abstractmethod
    def list_files(self, place: StoragePath) -> list[ListedFile]:
        """Files at and below a path, by name. Errors: UserError."""

    def put(self, local: Path, place: StoragePath) -> Iterator[TransferredFile]:
        """Copy a file, or a directory with all in it, to a container or share. Errors: UserError."""
        # A container is not a file: a file goes into it, under its own name.
        for file, remote in files_to_upload(local, place.full if place.path else f"{place.root}/"):
            yield self._put(file, StoragePath(place.kind, place.root, remote.removeprefix(f"{place.root}/")))

    def get(self, place: StoragePath, local: Path) -> Iterator[TransferredFile]:
        """Copy a file, or all files below a path, from a container or share. Errors: UserError."""
        for each in self.list_files(place):
            name = each.path.removeprefix(f"{place.root}/")
            yield self._get(StoragePath(place.kind, place.root, name), download_path(each.path, place.full, local))

    @abstractmethod
    def _known(self, place: StoragePath, writes: bool = False) -> RemoteFile | None:
        """What is known of a file; None where there is none. Errors: as of `storage_errors`."""

    @abstractmethod
    def _send(self, file: Path, size: int, whole: str, place: StoragePath) -> Iterator[int]:
        """Send what the account lacks of a file, which then has its name; the bytes of each piece. whole: its MD5."""

    @abstractmethod
    def _pieces(self, place: StoragePath, known: RemoteFile, begin: int) -> Iterator[bytes]:
        """The bytes of a file from one on, each piece checked by its MD5."""

    def _arrived(self, place: StoragePath, known: RemoteFile) -> None:  # noqa: B027 - nothing, where reading is conditional
        """Look whether a file that has arrived is still what was known of it. Errors: UserError."""

    def _put(self, file: Path, place: StoragePath) -> TransferredFile:
        size, whole, moved, named = file.stat().st_size, checksum(file, kind="md5"), 0, False
        while True:
            try:
                known = self._known(place, writes=True)
                if known and known.size == size and known.md5 == whole:
                    self.backoff.worked()
                    return TransferredFile(place.full, size, moved)
                if named:
                    raise UserError(f"{place.full}: is not what was sent; is somebody else writing it? put it again")
                with storage_errors(self.storage, place, writes=True):
                    for sent in self._send(file, size, whole, place):
                        moved += sent
                        self.backoff.worked()
                named = True
            except AzureBusy as error:
                self._again(error, f"put it again: what has arrived of {place.full} is kept")

    def _get(self, place: StoragePath, file: Path) -> TransferredFile:
        moved = 0
        while True:
            try:
                known = self._known(place)
                if known is None:
                    raise not_found_error(place)
                download = PartialDownload(file, known)
                if download.is_complete:
                    return TransferredFile(place.full, known.size, moved)
                begin = download.resume_offset()
                with storage_errors(self.storage, place, writes=False):
                    for length in download.append(self._pieces(place, known, begin)):
                        moved += length
                        self.backoff.worked()
                        self.progress(place.full, download.has, known.size)
                self._arrived(place, known)
                download.finish(place.full)
                return TransferredFile(place.full, known.size, moved)
            except AzureBusy as error:
                self._again(error, f"get it again: what has arrived is beside {file}")
            except AzureBatchError as error:
                if error.code in CHANGED_CODES:
                    raise UserError(f"{place.full}: has changed in the meantime; get it again") from error
                raise

    def _again(self, error: AzureBusy, later: str) -> None:
        if not self.backoff.pause():
            raise UserError(f"{error}; {later}") from error
