"""Components for Azure."""

from typing import TYPE_CHECKING

from gpufleet.lazy import lazy_names

if TYPE_CHECKING:
    from gpufleet.azure.batch_account import BatchAccount as BatchAccount
    from gpufleet.azure.batch_pool import BatchPool as BatchPool
    from gpufleet.azure.budget import Budget as Budget
    from gpufleet.azure.cluster import Cluster as Cluster
    from gpufleet.azure.gpu_node_group import GpuNodeGroup as GpuNodeGroup
    from gpufleet.azure.lustre_files import LustreFiles as LustreFiles
    from gpufleet.azure.network import Network as Network
    from gpufleet.azure.nfs_share import NfsShare as NfsShare
    from gpufleet.azure.node_identity import NodeIdentity as NodeIdentity
    from gpufleet.azure.registry import Registry as Registry
    from gpufleet.azure.resource_group import ResourceGroup as ResourceGroup
    from gpufleet.azure.shared_files import SharedFiles as SharedFiles
    from gpufleet.azure.site_link import SiteLink as SiteLink

__getattr__ = lazy_names(__name__, "azure")
