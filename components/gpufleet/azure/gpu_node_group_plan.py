"""From a pool's intent to the plain facts of its agent pool. No resource is made here."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.catalog import azure
from gpufleet.pools.aks_pool import AksPool
from gpufleet.pools.eks_pool import Taint
from gpufleet.pools.node_labels import GPU_TAINT, kubernetes_taints, node_labels

SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
"""AKS gives it to Spot nodes in any case; said here too, it is no difference when the state is read again."""
_LONGEST = 12
_DIGEST = 4
_SYSTEM = "system"
_DRIVER = {"install": "Install", "none": "None"}
_SCALE_DOWN = {"delete": "Delete", "deallocate": "Deallocate"}


@dataclass(frozen=True, kw_only=True)
class GpuNodeGroupPlan:
    """All of an agent pool that its intent alone decides, in AKS's words."""

    pool_name: str
    vm_size: str
    zones: Sequence[str] | None
    placement: str
    placement_group: str | None
    """Resource id of an existing group."""
    reservation_id: str | None
    least: int
    desired: int
    most: int
    spot: bool
    spot_max_price: float | None
    disk_gib: int
    disk_type: str | None
    """None: AKS chooses, a local disk where the size has one that is large enough."""
    driver: str
    os_sku: str
    scale_down: str
    labels: Mapping[str, str]
    taints: Sequence[str]
    """As AKS writes them: key=value:NoSchedule."""


def pool_name(name: str) -> str:
    """The name in AKS of the pool that the component `name` makes: 1 to 12 small letters and digits, a letter first.

    A name that is changed on the way ends in a digest of the whole, so that trainers-a and trainersa stay two.
    """
    short = "".join(each for each in name.lower() if each.isascii() and each.isalnum()).lstrip("0123456789")
    if short == name and len(name) <= _LONGEST and name != _SYSTEM:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{short[: _LONGEST - _DIGEST] or 'p'}{digest}"


def plan_gpu_node_group(name: str, pool: AksPool) -> GpuNodeGroupPlan:
    """Plan ``pool``, which has passed :func:`gpufleet.rules.azure.gpu_node_group.validate_azure_pool`.

    Numbers from other Pulumi languages arrive as floats.
    """
    size = pool["types"][0]
    record = azure().types.get(size)
    zones = list(pool.get("zones", []))
    capacity, placement = pool.get("capacity", "on-demand"), pool.get("placement", "none")
    spot = capacity == "spot"
    words = {"capacity": capacity, "placement": placement, "network": pool.get("network", "plain")}
    labels = {
        # A size that the catalog does not know has passed as unverified: nobody knows its GPU.
        **node_labels(name, [record.gpu_model] if record else [], zones, words),
        **pool.get("labels", {}),
    }
    taints = [f"{key}={word}" for key, word in kubernetes_taints(_taints(pool.get("taints", []))).items()]
    if spot:
        taints.append(SPOT_TAINT)
    least = int(pool.get("min", 0))
    scale_down = _SCALE_DOWN[pool.get("scale_down", "delete")]
    return GpuNodeGroupPlan(
        pool_name=pool_name(name),
        vm_size=size,
        zones=zones or None,
        placement=placement,
        placement_group=pool.get("placement_group"),
        reservation_id=pool.get("reservation_id"),
        least=least,
        desired=int(pool.get("desired", least)),
        most=int(pool["max"]),
        spot=spot,
        spot_max_price=float(pool.get("spot_max_price", -1)) if spot else None,
        disk_gib=int(pool.get("disk_gib", 128)),
        # A local disk does not outlive the deallocation of its machine.
        disk_type="Managed" if scale_down == "Deallocate" else None,
        driver=_DRIVER[pool.get("driver", "install")],
        os_sku=pool.get("os_sku", "Ubuntu"),
        scale_down=scale_down,
        labels=labels,
        taints=taints,
    )


def _taints(given: Sequence[Taint]) -> list[Taint]:
    """The GPU taint and the pool's own; a given taint of the same key takes its place."""
    replaced = any(taint["key"] == GPU_TAINT["key"] for taint in given)
    return [*given] if replaced else [GPU_TAINT, *given]
