"""Prometheus and Grafana of a platform: which pools, at which prices, on which nodes and volume."""

from collections.abc import Mapping

from gpufleet.dashboards.pool_prices import pool_prices
from gpufleet.jobs.pool_info import pool_info
from gpufleet.kubernetes.monitoring import MonitoringConfig
from gpufleet.platform.pool import PlatformPool
from gpufleet.platform.storage_classes import EBS_CLASS_OF_MONITORING


def needs_ebs_class(monitoring: MonitoringConfig) -> bool:
    """Whether Prometheus keeps its data on a volume, and no class for it is named."""
    return "storage_gib" in monitoring and "storage_class" not in monitoring


def monitoring_config(monitoring: MonitoringConfig, *, ebs: bool) -> MonitoringConfig:
    """How Prometheus keeps its data. ebs: whether the environment makes a storage class of EBS for it."""
    own: MonitoringConfig = {"storage_class": EBS_CLASS_OF_MONITORING}
    return {**monitoring, **own} if ebs and needs_ebs_class(monitoring) else monitoring


def gpu_prices(pools: Mapping[str, PlatformPool], usd_per_gpu_hour: Mapping[str, float]) -> dict[str, float]:
    """USD for an hour of a GPU, by the label of a pool's nodes, as `gpufleet dashboards` has them.

    usd_per_gpu_hour: as configured, by the pool's name.
    """
    known = {name: pool_info(name, pool) for name, pool in pools.items()}
    own = {known[name].label if name in known else name: usd for name, usd in usd_per_gpu_hour.items()}
    found, _ = pool_prices(known, own)
    return found
