"""Arguments of TrainingPlatform."""

from collections.abc import Mapping
from typing import NotRequired

import pulumi

from gpufleet.kubernetes.autoscaler import AutoscalerArgs
from gpufleet.kubernetes.efa_plugin import EfaPluginConfig
from gpufleet.kubernetes.gpu_operator import GpuOperatorConfig
from gpufleet.kubernetes.remote_write import RemoteWrite
from gpufleet.kubernetes.volume_source import VolumeSource
from gpufleet.platform.environment import FilesZone, PlatformOwner, PlatformSoftware
from gpufleet.platform.pool import PlatformPool


class TrainingPlatformArgs(PlatformOwner, PlatformSoftware, FilesZone):
    """What is installed, for which teams, on which pools, with which files."""

    pools: Mapping[str, PlatformPool]
    """GPU pools by name, as `cloud_pool` and `onprem_pool` of gpufleet.platform describe them."""
    node_groups: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Names of the pools' node groups. Teams come after them, and so go before them: deleting a namespace ends its jobs
    while their nodes and files are still there to let go of."""
    files: VolumeSource
    """Where the shared files are."""
    gpu_operator: NotRequired[GpuOperatorConfig]
    """NVIDIA's GPU operator, where software names it."""
    efa_plugin: NotRequired[EfaPluginConfig]
    """AWS's EFA device plugin, where software names it."""
    autoscaler: NotRequired[AutoscalerArgs]
    """The cluster autoscaler, where the cloud's clusters bring none along."""
    remote_write: NotRequired[RemoteWrite]
    """Where Prometheus also writes, where software names monitoring. Default: nowhere."""
    ebs_driver: NotRequired[bool]
    """Whether the cluster has the driver of EBS, on whose volumes hubs then keep their databases. Default false."""
    cloud: NotRequired[str]
    """aws or azure: whose price list says what a notebook costs. Default: none does."""
    region: NotRequired[str]
    """Region of those prices."""
