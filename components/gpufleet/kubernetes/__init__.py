"""What runs on a cluster, the same on EKS, AKS and on-premises: one component per file.

Objects are registered one by one, so that each shows in the first preview, also while the cluster does not exist yet.
Give components the provider of their cluster (`cluster_provider`).
"""

from typing import TYPE_CHECKING

from gpufleet.lazy import lazy_names

if TYPE_CHECKING:
    from gpufleet.kubernetes.autoscaler import Autoscaler as Autoscaler
    from gpufleet.kubernetes.cilium import Cilium as Cilium
    from gpufleet.kubernetes.dcgm_exporter import DcgmExporter as DcgmExporter
    from gpufleet.kubernetes.device_plugin import DevicePlugin as DevicePlugin
    from gpufleet.kubernetes.efa_plugin import EfaPlugin as EfaPlugin
    from gpufleet.kubernetes.gpu_operator import GpuOperator as GpuOperator
    from gpufleet.kubernetes.jobset_controller import JobSetController as JobSetController
    from gpufleet.kubernetes.monitoring import Monitoring as Monitoring
    from gpufleet.kubernetes.mpi_job import MpiJob as MpiJob
    from gpufleet.kubernetes.mpi_operator import MpiOperator as MpiOperator
    from gpufleet.kubernetes.node_health import NodeHealth as NodeHealth
    from gpufleet.kubernetes.node_labels import NodeLabels as NodeLabels
    from gpufleet.kubernetes.notebooks import Notebooks as Notebooks
    from gpufleet.kubernetes.provider import cluster_provider as cluster_provider
    from gpufleet.kubernetes.queue import Queue as Queue
    from gpufleet.kubernetes.shared_volume import SharedVolume as SharedVolume
    from gpufleet.kubernetes.team import Team as Team

__getattr__ = lazy_names(__name__, "kubernetes", cluster_provider="provider")
