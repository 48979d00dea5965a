"""Credentials and endpoints of Azure's services: the real hosts, or in a rehearsal what plays them on this machine.

azure-identity (extra `jobs`) is imported by the first call, not with the module.
"""

import logging
from typing import Any

BATCH_ENDPOINT = "GPUFLEET_AZURE_BATCH_ENDPOINT"
"""Variable of a rehearsal: the URL below which Batch accounts are played, each under its name."""
BLOB_ENDPOINT = "GPUFLEET_AZURE_BLOB_ENDPOINT"
"""The same for the blobs of storage accounts; Azurite has them in the same way, at http://127.0.0.1:10000."""
KEY_VAULT_ENDPOINT = "GPUFLEET_AZURE_KEY_VAULT_ENDPOINT"
"""The same for key vaults, each under its host."""
STORAGE_KEY = "AZURE_STORAGE_KEY"
"""The Azure CLI's variable for an account key: read only for a played account, which has no other login."""

_CLI_TIMEOUT_SECONDS = 20
"""How long the Azure CLI may take to give a token."""


def credential() -> Any:  # noqa: ANN401 - azure.identity is not imported with the module
    """The credentials in use: environment, workload or managed identity, or the Azure CLI.

    Errors: ModuleNotFoundError without the extra `jobs`.
    """
    from azure.identity import DefaultAzureCredential

    # It logs each place without credentials as a warning, which the error then says once more.
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    return DefaultAzureCredential(process_timeout=_CLI_TIMEOUT_SECONDS)


class NoCredential:
    """The credential for a played service on this machine, which gets no token."""

    def get_token(self, *scopes: str, **options: object) -> Any:  # noqa: ANN401
        raise AssertionError("a played service is called without a token")
