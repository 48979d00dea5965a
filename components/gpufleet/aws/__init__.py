"""AWS components: the network, the EKS cluster, GPU node groups, shared files, the registry and the budget.

Import each from its own file, for instance ``from gpufleet.aws.network import Network``: this package imports no SDK.
"""

from typing import TYPE_CHECKING

from gpufleet.lazy import lazy_names

if TYPE_CHECKING:
    from gpufleet.aws.autoscaler_identity import AutoscalerIdentity as AutoscalerIdentity
    from gpufleet.aws.batch_environment import BatchEnvironment as BatchEnvironment
    from gpufleet.aws.batch_queue import BatchQueue as BatchQueue
    from gpufleet.aws.budget import Budget as Budget
    from gpufleet.aws.cluster import Cluster as Cluster
    from gpufleet.aws.data_sync import DataSync as DataSync
    from gpufleet.aws.existing_cluster import ExistingCluster as ExistingCluster
    from gpufleet.aws.gpu_node_group import GpuNodeGroup as GpuNodeGroup
    from gpufleet.aws.hybrid_nodes import HybridNodes as HybridNodes
    from gpufleet.aws.image_mirror import ImageMirror as ImageMirror
    from gpufleet.aws.lustre_files import LustreFiles as LustreFiles
    from gpufleet.aws.managed_prometheus import ManagedPrometheus as ManagedPrometheus
    from gpufleet.aws.mountpoint_driver import MountpointDriver as MountpointDriver
    from gpufleet.aws.network import Network as Network
    from gpufleet.aws.outputs_bucket import OutputsBucket as OutputsBucket
    from gpufleet.aws.registry import Registry as Registry
    from gpufleet.aws.shared_files import SharedFiles as SharedFiles
    from gpufleet.aws.site_link import SiteLink as SiteLink
    from gpufleet.aws.training_job import TrainingJob as TrainingJob

__getattr__ = lazy_names(__name__, "aws", ExistingCluster="existing_cluster")
