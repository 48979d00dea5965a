"""Plan of an AKS agent pool: everything that the pool alone determines, as plain values. Creates no resource."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.catalog import azure
from gpufleet.pools.aks_pool import AksPool
from gpufleet.pools.node_labels import kubernetes_taints, merge_gpu_taint, node_labels

SPOT_TAINT = "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"
"""AKS always sets it on Spot nodes; declared here too, so that a refresh shows no difference."""
_LONGEST = 12
_DIGEST = 4
_SYSTEM = "system"
_DRIVER = {"install": "Install", "none": "None"}
_SCALE_DOWN = {"delete": "Delete", "deallocate": "Deallocate"}


@dataclass(frozen=True, kw_only=True)
class GpuNodeGroupPlan:
    """Everything of an agent pool that its AksPool alone determines, in AKS's terms."""

    agent_pool_name: str
    vm_size: str
    zones: Sequence[str] | None
    placement: str
    placement_group: str | None
    """Resource id of an existing group."""
    reservation_id: str | None
    min_count: int
    count: int
    max_count: int
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


def agent_pool_name(name: str) -> str:
    """Name in AKS of the agent pool of the component `name`: 1 to 12 lower-case letters and digits, a letter first.

    A name that had to be changed ends in a digest of the original, so that trainers-a and trainersa stay distinct.
    """
    short = "".join(each for each in name.lower() if each.isascii() and each.isalnum()).lstrip("0123456789")
    if short == name and len(name) <= _LONGEST and name != _SYSTEM:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{short[: _LONGEST - _DIGEST] or 'p'}{digest}"


def plan_gpu_node_group(name: str, pool: AksPool) -> GpuNodeGroupPlan:
    """Plan ``pool``, which has passed :func:`gpufleet.rules.azure.gpu_node_group.validate_azure_pool`.

    Programs in other languages pass numbers as floats.
    """
    size = pool["types"][0]
    record = azure().types.get(size)
    zones = list(pool.get("zones", []))
    capacity, placement = pool.get("capacity", "on-demand"), pool.get("placement", "none")
    spot = capacity == "spot"
    fields = {"capacity": capacity, "placement": placement, "network": pool.get("network", "plain")}
    labels = {
        # A size that is not in the catalog has passed as unverified: its GPU is unknown.
        **node_labels(name, [record.gpu_model] if record else [], zones, fields),
        **pool.get("labels", {}),
    }
    taints = [f"{key}={value}" for key, value in kubernetes_taints(merge_gpu_taint(pool.get("taints", []))).items()]
    if spot:
        taints.append(SPOT_TAINT)
    least = int(pool.get("min", 0))
    scale_down = _SCALE_DOWN[pool.get("scale_down", "delete")]
    return GpuNodeGroupPlan(
        agent_pool_name=agent_pool_name(name),
        vm_size=size,
        zones=zones or None,
        placement=placement,
        placement_group=pool.get("placement_group"),
        reservation_id=pool.get("reservation_id"),
        min_count=least,
        count=int(pool.get("desired", least)),
        max_count=int(pool["max"]),
        spot=spot,
        spot_max_price=float(pool.get("spot_max_price", -1)) if spot else None,
        disk_gib=int(pool.get("disk_gib", 128)),
        # A local disk is lost when its machine is deallocated.
        disk_type="Managed" if scale_down == "Deallocate" else None,
        driver=_DRIVER[pool.get("driver", "install")],
        os_sku=pool.get("os_sku", "Ubuntu"),
        scale_down=scale_down,
        labels=labels,
        taints=taints,
    )
