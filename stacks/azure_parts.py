"""What the parts of an Azure environment get from its settings: plain values, for judging and for making them."""

from typing import Any

from azure_settings import AzureSettings
from gpufleet.azure.shared_files import DEFAULT_CONTAINERS, DEFAULT_SHARES
from settings import given


def containers_of(settings: AzureSettings) -> list[str]:
    """Blob containers of the storage account."""
    return list(DEFAULT_CONTAINERS if settings.files.containers is None else settings.files.containers)


def shares_of(settings: AzureSettings) -> list[str]:
    """File shares of the storage account."""
    return list(DEFAULT_SHARES if settings.files.shares is None else settings.files.shares)


def mounts_of(settings: AzureSettings, pool: str) -> list[dict[str, Any]]:
    """What a Batch pool's nodes mount, but account and key: containers and, as configured, shares of the files.

    A name that is neither is taken for a container's: the rules on the stack refuse it before.
    """
    assert settings.batch is not None
    chosen = settings.batch.pools[pool].mounts
    names = containers_of(settings) if chosen is None else chosen
    shares = set(shares_of(settings)) - set(containers_of(settings))
    return [
        {"kind": "files", "share": name, "path": name}
        if name in shares
        else {"kind": "blob", "container": name, "path": name}
        for name in names
    ]


def batch_pool_of(settings: AzureSettings, pool: str) -> dict[str, Any]:
    """A Batch pool's arguments but those that come from other parts."""
    assert settings.batch is not None
    return {key: value for key, value in given(settings.batch.pools[pool]).items() if key != "mounts"}
