"""Containers of the environment's storage account: programs go in, logs and outputs come out.

azure-storage-blob (extra `jobs`) is imported by the first call, not with the module.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gpufleet.jobs.azure_batch.login import BLOB_ENDPOINT, STORAGE_KEY, credential, elsewhere
from gpufleet.jobs.azure_batch.settings import AzureBatchSettings
from gpufleet.jobs.azure_batch.trouble import AzureTrouble, in_one_line

_SECONDS = 30


@dataclass(frozen=True)
class Blob:
    """name: with the folders it is in. etag: of its content."""

    name: str
    size: int
    changed: datetime
    etag: str


class Blobs:
    """One storage account. retries: how often the SDK repeats a call before it is `Busy`."""

    def __init__(self, settings: AzureBatchSettings, retries: int = 3) -> None:
        self._retries = retries
        self.url = elsewhere(BLOB_ENDPOINT) or settings.blobs
        self.host = self.url.partition("://")[2]
        self._made: Any = None

    def listed(self, container: str, prefix: str) -> Iterator[Blob]:
        """Files below a prefix, not the folders that a mounted container has. Errors: Busy, AzureTrouble."""
        with self._in_one_line("list"):
            for each in self._client.get_container_client(container).list_blobs(prefix, include=["metadata"]):
                if (each.metadata or {}).get("hdi_isfolder") != "true":
                    yield Blob(each.name, int(each.size), each.last_modified, str(each.etag))

    def put(self, container: str, name: str, content: bytes) -> None:
        """Errors: Busy, AzureTrouble."""
        with self._in_one_line("put"):
            self._client.get_blob_client(container, name).upload_blob(content, overwrite=True)

    def read(self, container: str, name: str, begin: int = 0) -> bytes | None:
        """What a blob has from a byte on; None where there is no such blob. Errors: Busy, AzureTrouble."""
        try:
            with self._in_one_line("get"):
                client = self._client.get_blob_client(container, name)
                if client.get_blob_properties().size <= begin:
                    return b""
                content: bytes = client.download_blob(offset=begin).readall()
                return content
        except AzureTrouble as error:
            if error.status != 404:
                raise
        return None

    def pieces(self, container: str, blob: Blob, begin: int) -> Iterator[bytes]:
        """What it has from a byte on, in pieces; code ConditionNotMet when it has changed. Errors: as of `read`."""
        from azure.core import MatchConditions

        with self._in_one_line("get"):
            client = self._client.get_blob_client(container, blob.name)
            same = {"etag": blob.etag, "match_condition": MatchConditions.IfNotModified}
            yield from client.download_blob(offset=begin, **same).chunks()

    def _in_one_line(self, call: str) -> Any:  # noqa: ANN401
        return in_one_line("Azure Storage", call, self.host)

    @property
    def _client(self) -> Any:  # noqa: ANN401
        from azure.storage.blob import BlobServiceClient

        if self._made is None:
            pace: dict[str, Any] = {
                "retry_total": self._retries,
                "connection_timeout": _SECONDS,
                "read_timeout": _SECONDS,
            }
            near = self.url.startswith("http://")
            login = os.environ.get(STORAGE_KEY) if near else credential()
            self._made = BlobServiceClient(self.url, credential=login, **pace)
        return self._made
