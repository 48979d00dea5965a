"""Credentials and endpoints of Azure's services: the real hosts, or in tests a loopback address.

azure-identity (extra `jobs`) is imported by the first call, not with the module.
"""

import logging
import os
from typing import Any
from urllib.parse import urlsplit

from gpufleet.errors import UserError

BATCH_ENDPOINT = "GPUFLEET_AZURE_BATCH_ENDPOINT"
"""Variable with the URL of a simulated Batch account."""
BLOB_ENDPOINT = "GPUFLEET_AZURE_BLOB_ENDPOINT"
"""The same for a storage account: http://127.0.0.1:10000/ACCOUNT is Azurite's."""
STORAGE_KEY = "AZURE_STORAGE_KEY"
"""The Azure CLI's variable for an account key: read only for a simulated account, which has no other login."""

_CLI_TIMEOUT_SECONDS = 20
"""How long the Azure CLI may take to give a token."""


def endpoint_override(variable: str) -> str | None:
    """The URL of a simulated service, None for the real one. Errors: UserError if tokens would be sent unencrypted."""
    url = os.environ.get(variable)
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")):
        return url.rstrip("/")
    raise UserError(f"{variable}={url}: must be an https:// URL or on this machine; change or unset it")


def credential() -> Any:  # noqa: ANN401 - azure.identity is not imported with the module
    """The credentials in use: environment, workload or managed identity, or the Azure CLI.

    Errors: ModuleNotFoundError without the extra `jobs`.
    """
    from azure.identity import DefaultAzureCredential

    # It logs each place without credentials as a warning, which the error then says once more.
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    return DefaultAzureCredential(process_timeout=_CLI_TIMEOUT_SECONDS)


class NoCredential:
    """The credential for a simulated service on this machine, which gets no token."""

    def get_token(self, *scopes: str, **options: object) -> Any:  # noqa: ANN401
        raise AssertionError("a simulated service is called without a token")
