"""The SDK's clients of a storage account, for the credentials in use; never by account key.

azure-storage-blob and azure-storage-file-share (extra `jobs`) are imported by the first call, not with the module.
"""

import os
from typing import Any

from gpufleet.errors import UserError
from gpufleet.jobs.azure_batch.login import BLOB_ENDPOINT, STORAGE_KEY, credential
from gpufleet.jobs.azure_storage.paths import AzureStorage
from gpufleet.played_endpoint import endpoint_override

_PACE: dict[str, Any] = {"retry_total": 2, "connection_timeout": 20, "read_timeout": 60}
"""Longer failures are handled by the copying code, which resumes the transfer."""
_REHEARSED = ".rehearsal.invalid"


def blob_service(storage: AzureStorage, **options: Any) -> Any:  # noqa: ANN401
    """A BlobServiceClient. options: as the SDK takes them. Errors: UserError where the account is only rehearsed."""
    from azure.storage.blob import BlobServiceClient

    played = endpoint_override(BLOB_ENDPOINT)
    fix = f"run `gpufleet rehearse {storage.environment} -- gpufleet ...`"
    url = f"{played}/{storage.account}" if played else _real(storage, storage.blobs, fix)
    # Only a played account on this machine uses a key: it has no other login.
    login = os.environ.get(STORAGE_KEY) if url.startswith("http://") else credential()
    return BlobServiceClient(url, credential=login, **{**_PACE, **options})


def share_service(storage: AzureStorage, **options: Any) -> Any:  # noqa: ANN401
    """A ShareServiceClient. options: as the SDK takes them.

    Errors: UserError where the stack has no file shares, or they are only rehearsed.
    """
    from azure.storage.fileshare import ShareServiceClient

    if not storage.files:
        raise UserError(
            f"{storage.environment}: the stack's outputs have no file shares (jobs.azure_batch.storage.file_endpoint)"
        )
    # backup: a user with the privileged role may copy all files, whatever rights their writers have set.
    url = _real(storage, storage.files, "a rehearsal plays its containers, and no file shares")
    return ShareServiceClient(url, credential=credential(), token_intent="backup", **{**_PACE, **options})


def _real(storage: AzureStorage, url: str, fix: str) -> str:
    if url.partition("://")[2].partition("/")[0].partition(":")[0].endswith(_REHEARSED):
        raise UserError(f"{storage.environment}: the storage account {storage.account} is a rehearsal's; {fix}")
    return url
