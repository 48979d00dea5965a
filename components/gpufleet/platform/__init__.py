"""What every environment has on its Kubernetes cluster, as one component: TrainingPlatform."""

from typing import TYPE_CHECKING

from gpufleet.lazy import lazy_names

if TYPE_CHECKING:
    from gpufleet.platform.pool import cloud_pool as cloud_pool
    from gpufleet.platform.pool import onprem_pool as onprem_pool
    from gpufleet.platform.training_platform import TrainingPlatform as TrainingPlatform

__getattr__ = lazy_names(__name__, TrainingPlatform="training_platform", cloud_pool="pool", onprem_pool="pool")
