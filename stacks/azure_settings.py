"""The configuration of an Azure environment: an AKS cluster, Azure Batch, or both."""

from typing import ClassVar, Literal

from cluster_settings import OnClusterSettings
from gpufleet.azure.batch_account import BatchAccountArgs
from gpufleet.azure.batch_pool import BatchPoolArgs
from gpufleet.azure.budget import BudgetArgs
from gpufleet.azure.cluster import ClusterArgs
from gpufleet.azure.gpu_node_group import GpuNodeGroupArgs
from gpufleet.azure.network import NetworkArgs
from gpufleet.azure.nfs_share import NfsShareArgs
from gpufleet.azure.registry import RegistryArgs
from gpufleet.azure.shared_files import SharedFilesArgs
from gpufleet.pool import Taint
from settings import Section
from typed_dict import model_of

# Every word is defined once, where the component takes it; the configuration leaves out what the stack fills in.
FILLED = {"region", "resource_group_name", "tags", "erase"}
IN_NETWORK = {"client_subnet_ids", "endpoint_subnet_id", "vnet_id"}
NetworkSettings = model_of(NetworkArgs, Section, without=FILLED)
FilesSettings = model_of(SharedFilesArgs, Section, without={*FILLED, *IN_NETWORK, "client_principal_ids"})
ShareSettings = model_of(NfsShareArgs, Section, without={*FILLED, *IN_NETWORK})
RegistrySettings = model_of(RegistryArgs, Section, without={*FILLED, *IN_NETWORK, "pull_principal_ids"})
BudgetSettings = model_of(BudgetArgs, Section, without={*FILLED, "scope", "environment"})
AksSettings = model_of(ClusterArgs, Section, without={*FILLED, "subnet_id"})
AgentPoolSettings = model_of(GpuNodeGroupArgs, Section, without={*FILLED, "cluster_name", "subnet_id"})
OF_STACK = {"storage_account_id", "storage_region", "identity_id"}
AccountSettings = model_of(BatchAccountArgs, Section, without={*FILLED, *OF_STACK})
_OF_MOUNTS = {"mounts", "registry_servers", "account_name", "identity_id", "subnet_id"}


class BatchPoolSettings(model_of(BatchPoolArgs, Section, without={*FILLED, *_OF_MOUNTS})):
    mounts: list[str] | None = None
    """Containers and shares of the environment's files that every node mounts, under their names. Default: all
    containers; shares need `files.shared_keys`, as Azure Batch mounts them by account key only."""


class BatchSettings(Section):
    account: AccountSettings = AccountSettings()
    """The Batch account."""
    pools: dict[str, BatchPoolSettings]
    """GPU nodes by name: a Batch pool each."""


class AzureSettings(OnClusterSettings):
    """All keys of an Azure environment, under `gpufleet:` in its Pulumi.<environment>.yaml."""

    PROVIDER: ClassVar[str] = "azure-native"
    OF_PROVIDER: ClassVar[frozenset[str]] = frozenset({"location"})
    SCALES_ITSELF: ClassVar[bool] = True
    # learn.microsoft.com/azure/aks/spot-node-pool
    SPOT_TAINT: ClassVar[Taint | None] = {
        "key": "kubernetes.azure.com/scalesetpriority",
        "value": "spot",
        "effect": "NO_SCHEDULE",
    }

    location: str
    """Region, for instance eastus. Storage and registry lie where the GPUs do."""
    subscription_id: str | None = None
    """Id of the subscription of an existing resource group."""
    resource_group: str | None = None
    """An existing resource group to build in. Default: one of the environment's own, which goes with it."""
    network: NetworkSettings = NetworkSettings()
    """The virtual network."""
    files: FilesSettings = FilesSettings()
    """The storage account: blob containers for scripts and results, a file share for logs."""
    budget: BudgetSettings | None = None
    """What the environment may cost in a month, and who hears of it. Default: no budget, and nobody hears."""
    registry: RegistrySettings = RegistrySettings()
    """The container registry (ACR)."""
    cluster: AksSettings | None = None
    """The AKS cluster. Default: none."""
    pools: dict[str, AgentPoolSettings] = {}
    """GPU nodes of the cluster by name: an agent pool each."""
    software: list[Literal["device-plugin", "mpi-operator"]] | None = None
    """What is installed on the cluster: device-plugin, mpi-operator. Default: both."""
    share: ShareSettings = ShareSettings()
    """The shared files of the cluster's pods: a premium file share with NFS, so that files keep their owners."""
    batch: BatchSettings | None = None
    """Azure Batch. Default: none."""

    @property
    def priced_in(self) -> str:
        return self.location
