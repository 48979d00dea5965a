"""Containers of the simulated cloud's storage accounts, and the blobs in them.

What stands in a container is kept with it in the rehearsal's file. Blocks that are not committed are kept only while
the command runs that sends them (Azure keeps them for a week).
"""

import json
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.table.paths import Json

ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
MOST_BYTES = 256 * 2**20
"""Of one blob of a rehearsal. Azure's own limit is 190 TiB."""


class BlobRejection(Exception):
    """An answer of Azure Storage's that is an error."""

    def __init__(self, status: int, code: str, words: str) -> None:
        super().__init__(code)
        self.status, self.code, self.words = status, code, words


class Blob(NamedTuple):
    """changed: seconds since 1970. md5: as its writer gave it, in base64; empty where nobody did."""

    content: bytes
    changed: float
    md5: str

    @property
    def etag(self) -> str:
        return f'"0x{int(self.changed * 1e6):X}"'


@dataclass
class Containers:
    """Those of all accounts of a simulated cloud. Errors of all methods: BlobRejection, StoreError."""

    store: Store
    _blocks: dict[tuple[int, str], dict[str, bytes]] = field(default_factory=dict)
    """Uncommitted blocks by container and blob, then by id."""

    def find(self, account: str, name: str) -> SimulatedResource:
        """The container of a name."""
        if not any(each.view.get("accountName") == account for each in self.store.resources(ACCOUNT)):
            raise BlobRejection(404, "ResourceNotFound", f"The simulated cloud has no storage account {account}.")
        for each in self.store.resources(CONTAINER):
            if (each.view.get("accountName"), each.view.get("containerName")) == (account, name):
                return each
        raise BlobRejection(404, "ContainerNotFound", "The specified container does not exist.")

    def blobs(self, container: SimulatedResource) -> dict[str, Blob]:
        """All blobs, by name."""
        known = self._known(container)
        return {name: Blob(content, *known[name]) for name, content in self.store.files(container).items()}

    def blob(self, container: SimulatedResource, name: str) -> Blob:
        """The blob of a name."""
        found = self.blobs(container).get(name)
        if found is None:
            raise BlobRejection(404, "BlobNotFound", "The specified blob does not exist.")
        return found

    def write(self, container: SimulatedResource, name: str, content: bytes, md5: str = "") -> None:
        """Write a whole blob."""
        if len(content) > MOST_BYTES:
            most = f"A rehearsal keeps blobs of up to {MOST_BYTES >> 20} MiB."
            raise BlobRejection(413, "RequestBodyTooLarge", most)
        with self.store.transaction():
            self.store.put_file(container, name, content)
            known: dict[str, Json] = {**self._known(container), name: [time.time(), md5]}
            self.store.remember(_key(container), json.dumps(known))

    def stage(self, container: SimulatedResource, name: str, block: str, content: bytes) -> None:
        """Keep a block until the blob is committed."""
        self._blocks.setdefault((container.serial, name), {})[block] = content

    def staged(self, container: SimulatedResource, name: str) -> dict[str, bytes]:
        """Blocks of a blob that are not committed, by id."""
        return self._blocks.get((container.serial, name), {})

    def commit(self, container: SimulatedResource, name: str, blocks: list[str], md5: str) -> None:
        """Make a blob of its blocks."""
        there = self.staged(container, name)
        if not set(blocks) <= set(there):
            raise BlobRejection(400, "InvalidBlockList", "The specified block list is invalid.")
        self.write(container, name, b"".join(there[each] for each in blocks), md5)
        self._blocks.pop((container.serial, name), None)

    def _known(self, container: SimulatedResource) -> dict[str, tuple[float, str]]:
        return {name: (at, md5) for name, (at, md5) in json.loads(self.store.fact(_key(container)) or "{}").items()}


def _key(container: SimulatedResource) -> str:
    return f"blobs:{container.serial}"
