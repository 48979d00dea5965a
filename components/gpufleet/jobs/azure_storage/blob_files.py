"""Blobs of an environment's containers: put, get and list, with resume and checksums.

A blob is sent in blocks that Azure keeps uncommitted for a week, under names made of their checksums: what is there is
not sent again, and the blob takes its new content at once, when all of its blocks are committed. Azure checks the MD5
of each block; the MD5 of the whole is kept with the blob (Content-MD5), which any later writer replaces or takes away,
so that it is never another content's.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_storage.errors import NOT_FOUND_CODES, not_found_error, storage_errors
from gpufleet.jobs.azure_storage.file_store import FileStore
from gpufleet.jobs.azure_storage.partial_download import RemoteFile
from gpufleet.jobs.azure_storage.paths import StoragePath
from gpufleet.jobs.file_transfer import ListedFile

_MOST_BLOCKS = 50_000
"""Of one blob. Source: learn.microsoft.com/rest/api/storageservices/put-block-list."""
_MIB = 2**20
_FOLDER = "hdi_isfolder"
"""Metadata of what is a directory to those who mount the container, or where the namespace is hierarchical."""


@dataclass
class BlobFiles(FileStore):
    """The containers of one account, by its BlobServiceClient.

    block: bytes of a block; more where a file would have too many of them.
    """

    block: int = 8 * _MIB

    def list_files(self, place: StoragePath) -> list[ListedFile]:
        """Blobs at and below a path, by name. Errors: UserError, also where there are none below a path."""
        with storage_errors(self.storage, place, writes=False):
            found = [
                ListedFile(known.size, known.changed, f"{place.root}/{name}") for name, known in self._below(place)
            ]
        if not found and place.path:
            raise not_found_error(place)
        return sorted(found, key=lambda each: each.path)

    def _below(self, place: StoragePath) -> Iterator[tuple[str, RemoteFile]]:
        container = self.service.get_container_client(place.root)
        prefix = f"{place.path}/" if place.path else None
        if place.path and (known := self._known(place)):
            yield place.path, known
        for each in container.list_blobs(prefix, include=["metadata"]):
            if (each.metadata or {}).get(_FOLDER) != "true":
                yield each.name, _known(each)

    def _known(self, place: StoragePath, writes: bool = False) -> RemoteFile | None:
        try:
            with storage_errors(self.storage, place, writes):
                found = self._client(place).get_blob_properties()
                return None if (found.metadata or {}).get(_FOLDER) == "true" else _known(found)
        except AzureBatchError as error:
            if error.code not in NOT_FOUND_CODES:
                raise
        return None

    def _send(self, file: Path, size: int, whole: str, place: StoragePath) -> Iterator[int]:
        from azure.storage.blob import BlobBlock, ContentSettings

        names: list[str] = []
        client, read, done = self._client(place), hashlib.md5(usedforsecurity=False), 0
        there = self._uncommitted(client)
        least = -(-size // _MOST_BLOCKS)
        block = self.block if least <= self.block else -(-least // _MIB) * _MIB
        with file.open("rb") as content:
            while piece := content.read(block):
                read.update(piece)
                name = f"{len(names):05d}-{hashlib.md5(piece, usedforsecurity=False).hexdigest()}"
                names.append(name)
                if name not in there:
                    client.stage_block(name, piece, length=len(piece), validate_content=True)
                    yield len(piece)
                done += len(piece)
                self.progress(place.full, done, size)
        if read.hexdigest() != whole:
            raise UserError(f"{file}: has changed while it was sent; put it again when nobody writes it")
        kept = ContentSettings(content_md5=bytearray.fromhex(whole))
        client.commit_block_list([BlobBlock(name) for name in names], content_settings=kept)

    def _uncommitted(self, client: Any) -> set[str]:  # noqa: ANN401
        from azure.core.exceptions import ResourceNotFoundError

        try:
            return {each.id for each in client.get_block_list("uncommitted")[1]}
        except ResourceNotFoundError:
            return set()

    def _pieces(self, place: StoragePath, known: RemoteFile, begin: int) -> Iterator[bytes]:
        from azure.core import MatchConditions

        if begin < known.size:
            same = {"etag": known.etag, "match_condition": MatchConditions.IfNotModified}
            yield from self._client(place).download_blob(offset=begin, validate_content=True, **same).chunks()

    def _client(self, place: StoragePath) -> Any:  # noqa: ANN401
        return self.service.get_blob_client(place.root, place.path)


def _known(found: Any) -> RemoteFile:  # noqa: ANN401
    md5 = found.content_settings.content_md5
    return RemoteFile(
        int(found.size), int(found.last_modified.timestamp()), str(found.etag), bytes(md5).hex() if md5 else None
    )
