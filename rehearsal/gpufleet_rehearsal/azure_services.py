"""Azure Batch, blobs and images of an environment while a command runs in its rehearsal.

They are servers on this machine, and variables that lead `gpufleet` to them, which hold in a rehearsal only
(gpufleet.jobs.azure_batch.login).
"""

from collections.abc import Iterator
from contextlib import contextmanager

from gpufleet.jobs.azure_batch.latest_image import REGISTRY_ENDPOINT
from gpufleet.jobs.azure_batch.login import BATCH_ENDPOINT, BLOB_ENDPOINT
from gpufleet_rehearsal.azure_batch.rehearsed_accounts import RehearsedAccounts
from gpufleet_rehearsal.azure_batch.server import batch_handler
from gpufleet_rehearsal.azure_registry import registry_handler
from gpufleet_rehearsal.azure_storage.containers import Containers
from gpufleet_rehearsal.azure_storage.server import blob_handler
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.loopback import serve
from gpufleet_rehearsal.workspace import Workspace

CLOUD = "azure-native"


@contextmanager
def azure_services(home: Workspace, environment: str) -> Iterator[dict[str, str]]:
    """The variables of the services of an environment on Azure; none for one on another cloud. Errors: UserError."""
    if home.cloud(environment) != CLOUD:
        yield {}
        return
    accounts = RehearsedAccounts(open_cloud(CLOUD, home.root))
    # Each has its own connection: two transactions on one would be one.
    containers = blob_handler(Containers(Store(home.database)))
    registries = registry_handler(Store(home.database))
    with serve(batch_handler(accounts.open)) as batch, serve(containers) as blobs, serve(registries) as images:
        yield {BATCH_ENDPOINT: batch, BLOB_ENDPOINT: blobs, REGISTRY_ENDPOINT: images}
