"""A pool of GPU nodes of AKS, as its owner describes it: the fields of `EksPool` that Azure has too, and its own.

`gpufleet.rules.azure.gpu_node_group.validate_azure_pool` checks them. No `from __future__ import annotations` here: the
component host reads the annotations as objects.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from gpufleet.pools.ec2_pool import Placement
from gpufleet.pools.eks_pool import Taint

Capacity = Literal["on-demand", "spot", "reservation"]
Fabric = Literal["plain", "infiniband"]
Driver = Literal["install", "none"]
OsSku = Literal["Ubuntu", "Ubuntu2204", "AzureLinux"]
ScaleDown = Literal["delete", "deallocate"]


class AksPool(TypedDict):
    """An agent pool of GPU nodes. Plain values: rules validate them before any resource exists."""

    types: Sequence[str]
    """The VM size, exactly one, for instance [Standard_ND96isr_H100_v5]: an agent pool has one size. A change
    replaces the pool."""
    min: NotRequired[int]
    """Nodes that always run. Default 0. To raise it later see the component."""
    desired: NotRequired[int]
    """Nodes at first creation; the autoscaler owns the number afterwards. Default: min."""
    max: int
    """Most nodes that may run. Cost gates look at this number."""
    zones: NotRequired[Sequence[str]]
    """Logical zones of the subscription, 1, 2 and 3. Default none: Azure chooses. A change replaces the pool."""
    placement: NotRequired[Placement]
    """none, create (a proximity placement group of the pool's own) or existing. Default none. A change replaces the
    pool."""
    placement_group: NotRequired[str]
    """Resource id of the proximity placement group, with placement=existing."""
    capacity: NotRequired[Capacity]
    """on-demand, spot or reservation. Default on-demand. A change replaces the pool."""
    reservation_id: NotRequired[str]
    """Resource id of the capacity reservation group, with capacity=reservation. The cluster's identity must be
    Contributor on it."""
    network: NotRequired[Fabric]
    """plain. infiniband is rejected: gpufleet installs no RDMA device plugin on AKS; pools of Azure Batch have it.
    Default plain."""
    disk_gib: NotRequired[int]
    """Size of the system disk in GiB, from 30. Default 128. A change replaces the pool."""
    labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes. Default: none."""
    taints: NotRequired[Sequence[Taint]]
    """Kubernetes taints of the nodes. Default: none; the component adds its own for GPUs, and AKS's for Spot."""
    driver: NotRequired[Driver]
    """Who installs NVIDIA's driver: install (AKS), or none for the GPU operator. Default install. A change replaces the
    pool."""
    os_sku: NotRequired[OsSku]
    """Ubuntu, Ubuntu2204 or AzureLinux. Default Ubuntu."""
    scale_down: NotRequired[ScaleDown]
    """What the autoscaler does with a node that nobody needs: delete, or deallocate to keep its disk, with the images
    on it, at the disk's price. Default delete."""
    spot_max_price: NotRequired[float]
    """Most US dollars that an hour of a Spot node may cost; -1 for the on-demand price. Default -1. A change replaces
    the pool."""
