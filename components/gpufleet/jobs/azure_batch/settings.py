"""The settings of jobs on Azure Batch, read from `azure_batch` of a stack's output `jobs`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from gpufleet.errors import UserError

TASK_ID = "main"
"""Id of the one task that a job has."""


class AzureBatchPoolOutput(TypedDict, total=False):
    """One pool of Azure Batch, besides the keys of all pools (types, network, max)."""

    pool_id: str
    """As Batch knows it. Default: the pool's name."""
    min: int
    """Fewest nodes of its formula. Default 0."""
    capacity: str
    """on-demand or spot. Default: on-demand."""
    task_nodes: int
    """Most nodes of a task; above 1 its nodes talk to each other. Default 1."""
    scaling: str
    """auto or fixed. Default: auto."""
    idle_minutes: int
    mounts: Sequence[str]
    """Paths below $AZ_BATCH_NODE_MOUNTS_DIR; a container of the storage account is mounted under its own name."""


class AzureStorageOutput(TypedDict, total=False):
    account_name: str
    blob_endpoint: str
    file_endpoint: str
    containers: Sequence[str]
    shares: Sequence[str]


class AzureBatchOutput(TypedDict, total=False):
    """The key `azure_batch` of the stack's output `jobs`."""

    account_endpoint: str
    """Host of the Batch account: NAME.REGION.batch.azure.com."""
    subscription_id: str
    resource_group: str
    account_name: str
    region: str
    pools: Mapping[str, AzureBatchPoolOutput]
    identity_id: str
    """The user-assigned identity of the nodes: pulls images, and reads and writes the storage account."""
    key_vault: str
    """URL of the key vault of the jobs' secrets, which the nodes' identity may read. Default: none."""
    storage: AzureStorageOutput
    scripts: str
    """Container that programs are sent through. Default: scripts."""
    result: str
    """Container of logs and outputs. Default: result."""


@dataclass(frozen=True)
class AzureBatchPoolSettings:
    """One pool. least: of its formula. task_nodes: most nodes of a task. idle_minutes: None for the default."""

    name: str
    pool_id: str
    least: int
    spot: bool
    task_nodes: int
    auto: bool
    idle_minutes: int | None
    mounts: Sequence[str]


@dataclass(frozen=True)
class AzureBatchSettings:
    """Azure Batch as it runs an environment's jobs. endpoint: the account's host. blobs: the storage account's URL,
    without a slash at its end. identity: of the nodes, None where they have none. key_vault: URL of the jobs' secrets.
    """

    endpoint: str
    account: str
    region: str
    pools: Mapping[str, AzureBatchPoolSettings]
    identity: str | None
    blobs: str
    scripts: str
    result: str
    key_vault: str | None = None

    def folder(self, job: str) -> str:
        """Where in `result` and in `scripts` a job's files are."""
        return f"jobs/{job}"

    def outputs(self, job: str) -> str:
        """The URL of a job's outputs."""
        return f"{self.blobs}/{self.result}/{self.folder(job)}"


def azure_batch_settings(jobs: Mapping[str, Any], environment: str) -> AzureBatchSettings:
    """Read the stack's output `jobs`. Errors: UserError if it has no Batch account or storage."""
    told = jobs.get("azure_batch")
    if not isinstance(told, Mapping) or not told.get("account_endpoint"):
        raise UserError(
            f"{environment}: the stack's outputs have no Azure Batch (jobs.azure_batch.account_endpoint); "
            f"run `pulumi up -s {environment}` first, or leave out --on azure-batch"
        )
    storage = told.get("storage")
    blobs = storage.get("blob_endpoint") if isinstance(storage, Mapping) else None
    if not blobs:
        raise UserError(
            f"{environment}: the stack's outputs have no storage account beside Azure Batch "
            f"(jobs.azure_batch.storage.blob_endpoint); run `pulumi up -s {environment}`"
        )
    endpoint = str(told["account_endpoint"]).removeprefix("https://").rstrip("/")
    pools = told.get("pools")
    return AzureBatchSettings(
        endpoint=endpoint,
        account=str(told.get("account_name") or endpoint.partition(".")[0]),
        region=str(told.get("region") or ""),
        pools={name: _pool(name, each) for name, each in pools.items()} if isinstance(pools, Mapping) else {},
        identity=str(told["identity_id"]) if told.get("identity_id") else None,
        blobs=str(blobs).rstrip("/"),
        scripts=str(told.get("scripts") or "scripts"),
        result=str(told.get("result") or "result"),
        key_vault=str(told["key_vault"]).rstrip("/") if told.get("key_vault") else None,
    )


def _pool(name: str, output: Mapping[str, Any]) -> AzureBatchPoolSettings:
    # Pulumi's outputs have no whole numbers: 2 comes back as 2.0.
    idle = output.get("idle_minutes")
    return AzureBatchPoolSettings(
        name=name,
        pool_id=str(output.get("pool_id") or name),
        least=int(output.get("min") or 0),
        spot=output.get("capacity") == "spot",
        task_nodes=int(output.get("task_nodes") or 1),
        auto=(output.get("scaling") or "auto") == "auto",
        idle_minutes=None if idle is None else int(idle),
        mounts=[str(each) for each in output.get("mounts") or []],
    )
