"""Blobs of jobs: upload programs, and read the logs that nodes have uploaded.

Files are otherwise copied by `gpufleet.jobs.azure_storage`, which also sends the programs.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from gpufleet.jobs.azure_batch.errors import AzureBatchError
from gpufleet.jobs.azure_storage.blob_files import BlobFiles
from gpufleet.jobs.azure_storage.clients import blob_service
from gpufleet.jobs.azure_storage.errors import storage_errors
from gpufleet.jobs.azure_storage.paths import AzureStorage, StoragePath


class JobBlobs:
    """The blobs of one storage account."""

    def __init__(self, storage: AzureStorage) -> None:
        self._storage = storage

    def put(self, container: str, name: str, file: Path) -> None:
        """Errors: UserError."""
        for _ in BlobFiles(self._storage, self._service).put(file, StoragePath("blob", container, name)):
            pass

    def read(self, container: str, name: str, begin: int = 0) -> bytes | None:
        """What a blob has from a byte on; None where there is no such blob. Errors: AzureBusy, AzureBatchError."""
        try:
            with storage_errors(self._storage, StoragePath("blob", container, name), writes=False):
                blob = self._service.get_blob_client(container, name)
                if blob.get_blob_properties().size <= begin:
                    return b""
                content: bytes = blob.download_blob(offset=begin).readall()
                return content
        except AzureBatchError as error:
            if error.status != 404:
                raise
        return None

    @cached_property
    def _service(self) -> Any:  # noqa: ANN401
        return blob_service(self._storage)
