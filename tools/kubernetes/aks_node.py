"""The Node object that AKS makes of a virtual machine: its labels, and what its images reserve.

Its image has NVIDIA's driver unless the agent pool says `gpuProfile.driver: None`, and no device plugin:
https://learn.microsoft.com/azure/aks/use-nvidia-gpu. It reserves no huge pages. A pod that asks for `rdma/...` finds
none, as nobody installs a plugin for it. Labels and taints are the agent pool's, and AKS's own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.catalog import AzureGpuSize
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import GPU_TAINT, node_labels
from tools.kubernetes.cpu_type import cpu_type
from tools.kubernetes.fake_node import ARCHITECTURES, GPU, MOST_PODS, Kept, Machine, fake_node

MACHINE_OF_POOL = Machine(built_in=(GPU,))
"""What the machines of a gpufleet pool have, in a cluster whose device plugin runs on every node at once."""


def gpu_node(
    name: str,
    record: AzureGpuSize,
    *,
    zone_id: str,
    region: str,
    pool: str,
    machine: Machine,
    words: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Taint] | None = None,
) -> dict[str, Any]:
    """A node of a GPU pool; the words as for `eks_node.gpu_node`. zone_id: as AKS labels it, eastus-1."""
    own = node_labels(pool, [record.gpu_model], [zone_id], words or {}) if labels is None else labels
    return fake_node(
        name,
        pool,
        {
            **_aks_labels(name, record.type, record.architecture, zone_id, region, pool),
            "kubernetes.azure.com/accelerator": "nvidia",
            "kubernetes.azure.com/mode": "user",
            **own,
        },
        [GPU_TAINT] if taints is None else taints,
        vcpus=record.vcpus,
        memory_gib=record.memory_gib,
        kept=_kept(record.vcpus, record.memory_gib),
        gpus=record.gpus,
        machine=machine,
    )


def cpu_node(
    name: str,
    size: str,
    *,
    zone_id: str,
    region: str,
    pool: str,
    labels: Mapping[str, str],
    taints: Sequence[Taint],
) -> dict[str, Any]:
    """A node without GPUs, for operators and launchers. labels, taints: the agent pool's."""
    vcpus, memory_gib = cpu_type(size)
    mode = {"kubernetes.azure.com/mode": "system"}
    own = {**_aks_labels(name, size, "x86_64", zone_id, region, pool), **mode, **labels}
    kept = _kept(vcpus, memory_gib)
    return fake_node(name, pool, own, taints, vcpus=vcpus, memory_gib=memory_gib, kept=kept)


def _aks_labels(name: str, size: str, architecture: str, zone_id: str, region: str, pool: str) -> dict[str, str]:
    """What kubelet, AKS and Azure's cloud controller put on every node of an agent pool.

    https://learn.microsoft.com/azure/aks/use-labels and, for zones,
    https://learn.microsoft.com/azure/aks/availability-zones-overview (looked at in 2026-11).
    """
    processor = ARCHITECTURES[architecture]
    return {
        "agentpool": pool,
        "beta.kubernetes.io/arch": processor,
        "beta.kubernetes.io/instance-type": size,
        "beta.kubernetes.io/os": "linux",
        "kubernetes.azure.com/agentpool": pool,
        "kubernetes.azure.com/role": "agent",
        "kubernetes.io/arch": processor,
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": size,
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
