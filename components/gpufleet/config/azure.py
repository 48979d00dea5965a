"""The configuration of an Azure environment: an AKS cluster, Azure Batch, or both."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from gpufleet.azure.batch_account import BatchAccountConfig
from gpufleet.azure.batch_pool import BatchPoolConfig
from gpufleet.azure.budget import BudgetConfig
from gpufleet.azure.cluster import ClusterConfig
from gpufleet.azure.gpu_node_group import GpuNodeGroupConfig
from gpufleet.azure.network import NetworkConfig
from gpufleet.azure.nfs_share import NfsShareConfig
from gpufleet.azure.registry import RegistryConfig
from gpufleet.azure.shared_files import SharedFilesConfig
from gpufleet.config.shared import SharedConfig
from gpufleet.platform.config import PlatformConfig
from gpufleet.typed_dicts import Default


class BatchNodesConfig(BatchPoolConfig):
    """GPU nodes of Azure Batch."""

    mounts: NotRequired[Sequence[str]]
    """Containers and shares of the environment's files that every node mounts, under their names. Default: all
    containers; shares need `files.shared_keys`, as Azure Batch mounts them by account key only."""


class BatchConfig(TypedDict):
    """An account of Azure Batch."""

    account: Annotated[BatchAccountConfig, Default({})]
    """The Batch account."""
    pools: dict[str, BatchNodesConfig]
    """GPU nodes by name: a Batch pool each."""
    key_vault_id: NotRequired[str]
    """Resource id of a key vault with RBAC, of which jobs may read every secret: one for this purpose alone. Default:
    none, and jobs have no secret variables."""


class AzureConfig(SharedConfig, PlatformConfig):
    """All keys of an Azure environment."""

    location: str
    """Region, for instance eastus. Storage and registry lie where the GPUs do."""
    subscription_id: NotRequired[str]
    """Id of the subscription of an existing resource group."""
    resource_group: NotRequired[str]
    """An existing resource group to build in. Default: one of the environment's own, which goes with it."""
    network: Annotated[NetworkConfig, Default({})]
    """The virtual network."""
    files: Annotated[SharedFilesConfig, Default({})]
    """The storage account: blob containers for scripts and results."""
    budget: NotRequired[BudgetConfig]
    """What the environment may cost in a month, and who hears of it. Default: no budget, and nobody hears."""
    registry: Annotated[RegistryConfig, Default({})]
    """The container registry (ACR)."""
    cluster: NotRequired[ClusterConfig]
    """The AKS cluster. Default: none."""
    pools: Annotated[dict[str, GpuNodeGroupConfig], Default({})]
    """GPU nodes of the cluster by name: an agent pool each."""
    software: NotRequired[
        Sequence[Literal["device-plugin", "mpi-operator", "dcgm-exporter", "node-health", "monitoring", "jobset"]]
    ]
    """What is installed on the cluster: device-plugin, mpi-operator, dcgm-exporter; node-health, which cordons bad
    nodes (docs/health.md); monitoring, Prometheus and Grafana (docs/dashboards.md); jobset, which jobs of torchrun
    need. Default: the first three."""
    share: Annotated[NfsShareConfig, Default({})]
    """The shared files of the cluster's pods: a premium file share with NFS, so that files keep their owners."""
    batch: NotRequired[BatchConfig]
    """Azure Batch. Default: none."""
