"""What the parts of an Azure environment get from its settings: plain values, for judging and for making them."""

from typing import Any

from azure_settings import AzureSettings
from gpufleet.azure.batch_account import LONGEST_NAME
from gpufleet.azure.legal_name import legal_name
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
    account = {"region": settings.location, "shared_keys": bool(settings.files.shared_keys)}
    return [
        account
        | ({"kind": "files", "share": name} if name in shares else {"kind": "blob", "container": name})
        | {"path": name}
        for name in names
    ]


def group_of(settings: AzureSettings) -> dict[str, Any]:
    """The existing resource group's arguments; none for one of the environment's own."""
    if settings.resource_group is None:
        return {}
    subscription = {"subscription_id": settings.subscription_id} if settings.subscription_id else {}
    return {"resource_group_name": settings.resource_group} | subscription


def budget_of(settings: AzureSettings) -> dict[str, Any]:
    """The budget's arguments but what it watches.

    With a cluster it goes by tag, as the cluster's nodes are paid for in a resource group of AKS's own.
    """
    return {"by_tag": settings.cluster is not None} | (given(settings.budget) if settings.budget else {})


def batch_account_of(environment: str, settings: AzureSettings) -> str:
    """The Batch account's name; of one that Azure names, what comes before the random end."""
    given_name = settings.batch.account.account_name if settings.batch else None
    return given_name or legal_name(f"{environment}-batch", LONGEST_NAME)


def batch_pool_of(settings: AzureSettings, pool: str) -> dict[str, Any]:
    """A Batch pool's arguments but those that come from other parts."""
    assert settings.batch is not None
    return {key: value for key, value in given(settings.batch.pools[pool]).items() if key != "mounts"}
