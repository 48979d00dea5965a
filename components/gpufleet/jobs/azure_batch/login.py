"""Who one is to Azure, and where its services are: the real hosts, or in tests a loopback address.

azure-identity (extra `jobs`) is imported by the first call, not with the module.
"""

import logging
import os
from typing import Any
from urllib.parse import urlsplit

from gpufleet.errors import UserError

BATCH_ENDPOINT = "GPUFLEET_AZURE_BATCH_ENDPOINT"
"""Variable with the URL of what stands in for a Batch account."""
BLOB_ENDPOINT = "GPUFLEET_AZURE_BLOB_ENDPOINT"
"""The same for a storage account: http://127.0.0.1:10000/ACCOUNT is Azurite's."""
STORAGE_KEY = "AZURE_STORAGE_KEY"
"""The variable in which the Azure CLI takes an account key: read for a stand-in alone, which has no other login."""

_PATIENCE_SECONDS = 20
"""How long the Azure CLI may take to give a token."""


def elsewhere(variable: str) -> str | None:
    """The URL of a stand-in, None for the real service. Errors: UserError for one that tokens would go to openly."""
    url = os.environ.get(variable)
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        return url.rstrip("/")
    raise UserError(f"{variable}={url}: is no https:// URL and not on this machine; give one that is, or unset it")


def credential() -> Any:  # noqa: ANN401 - azure.identity is not imported with the module
    """The credentials in use: environment, workload or managed identity, or the Azure CLI.

    Errors: ModuleNotFoundError without the extra `jobs`.
    """
    from azure.identity import DefaultAzureCredential

    # It logs each place without credentials as a warning, which the error then says once more.
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    return DefaultAzureCredential(process_timeout=_PATIENCE_SECONDS)


class Nobody:
    """Who asks a stand-in on this machine: a token is never made for it."""

    def get_token(self, *scopes: str, **options: object) -> Any:  # noqa: ANN401
        raise AssertionError("a stand-in is asked without a token")
