"""The Node object that AKS makes of a virtual machine: its labels, and what its images reserve."""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.catalog import AzureGpuSize
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import GPU_TAINT, node_labels
from tools.kubernetes.fake_node import ARCHITECTURES, MOST_PODS, Kept, fake_node


def gpu_node(
    name: str,
    record: AzureGpuSize,
    *,
    zone_id: str,
    region: str,
    pool: str,
    words: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] | None = None,
) -> dict[str, Any]:
    """A node of a GPU pool; the words as for `eks_node.gpu_node`. zone_id: as AKS labels it, eastus-1."""
    own = node_labels(pool, [record.gpu_model], [zone_id], words or {}) if labels is None else labels
    return fake_node(
        name,
        pool,
        {**_aks_labels(name, record, zone_id, region, pool), **own},
        [GPU_TAINT] if taints is None else taints,
        vcpus=record.vcpus,
        memory_gib=record.memory_gib,
        kept=_kept(record.vcpus, record.memory_gib),
        resources={"nvidia.com/gpu": str(record.gpus)},
    )


def _aks_labels(name: str, record: AzureGpuSize, zone_id: str, region: str, pool: str) -> dict[str, str]:
    """What kubelet, AKS and Azure's cloud controller put on every node of an agent pool.

    https://learn.microsoft.com/azure/aks/use-labels and, for zones,
    https://learn.microsoft.com/azure/aks/availability-zones-overview (looked at in 2026-11).
    """
    processor = ARCHITECTURES[record.architecture]
    return {
        "agentpool": pool,
        "beta.kubernetes.io/arch": processor,
        "beta.kubernetes.io/instance-type": record.type,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.azure.com/accelerator": "nvidia",
        "kubernetes.azure.com/agentpool": pool,
        "kubernetes.azure.com/mode": "user",
        "kubernetes.azure.com/role": "agent",
        "kubernetes.io/arch": processor,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": record.type,
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": zone_id,
    }


_CPU = ((1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740))


def _kept(vcpus: int, memory_gib: int) -> Kept:
    """CPU by a table, between and beyond its rows 10 for each core. Memory: 20 MiB for each pod and 50 MiB, at most a
    quarter of all, and 100 MiB of eviction threshold.

    Source: https://learn.microsoft.com/azure/aks/node-resource-reservations (1.29 and newer)
    """
    cores, cpu = max(row for row in _CPU if row[0] <= max(1, vcpus))
    memory = min(20 * MOST_PODS + 50, memory_gib * 1024 // 4)
    return Kept(cpu + 10 * (vcpus - cores), memory + 100)
