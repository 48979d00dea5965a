"""Plan of a GPU node group: everything that the pool alone determines, as plain values. Creates no resource."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.aws.autoscaler_tags import resource_tags, taint_tags
from gpufleet.aws.efa import Interface, interfaces
from gpufleet.aws.launch_template_plan import LaunchTemplatePlan, disk_speed
from gpufleet.catalog import gpu_type
from gpufleet.pools.eks_pool import EksPool, Taint
from gpufleet.pools.node_labels import label_value, merge_gpu_taint, node_labels

ACCELERATOR = "k8s.amazonaws.com/accelerator"
"""Label of nodes with GPUs for the cluster autoscaler, which takes a Ready node that has it and no GPUs yet as one that
is still starting, and adds no other for the same pods while the device plugin starts. Any value does: the GPU's name.

Source: github.com/kubernetes/autoscaler, cluster-autoscaler/cloudprovider/aws: README.md (special note on GPU
instances), aws_cloud_provider.go (GPULabel); processors/customresources/gpu_processor.go.
"""
_EKS_CAPACITY = {
    "on-demand": "ON_DEMAND",
    "reservation": "ON_DEMAND",
    "spot": "SPOT",
    "capacity-block": "CAPACITY_BLOCK",
}
_EKS_IMAGE = {"al2023": "AL2023", "bottlerocket": "BOTTLEROCKET"}
_EKS_ARCHITECTURE = {"x86_64": "x86_64", "arm64": "ARM_64"}


@dataclass(frozen=True, kw_only=True)
class GpuNodeGroupPlan(LaunchTemplatePlan):
    """Everything of a node group that its pool alone determines.

    ``template_type``: instance types are set on the node group or in the template, never in both.
    """

    types: Sequence[str]
    zones: Sequence[str]
    capacity: str
    placement: str
    network: str
    image: str
    min_size: int
    desired_size: int
    max_size: int
    ami_type: str
    """EKS's AMI type; CUSTOM for an image of the customer's."""
    capacity_type: str
    api_types: Sequence[str] | None
    """Instance types of the node group; None if the template has the type."""
    placement_group: str | None
    """Name of an existing group."""
    labels: Mapping[str, str]
    taints: Sequence[Taint]
    resource_tags: Mapping[str, str]
    """For the cluster autoscaler, on the node group."""
    taint_tags: Mapping[str, str]
    """For the cluster autoscaler, on the Auto Scaling group."""


def plan_gpu_node_group(name: str, pool: EksPool) -> GpuNodeGroupPlan:
    """Plan ``pool``, which has passed :func:`gpufleet.rules.validate_pool`.

    The number of nodes determines the three sizes and nothing else: plans for 2 and 512 nodes are otherwise equal.
    """
    records = [gpu_type(each) for each in pool["types"]]
    capacity = pool.get("capacity", "on-demand")
    network = pool.get("network", "plain")
    placement = pool.get("placement", "none")
    image = pool.get("image", "al2023")
    public = bool(pool.get("public_addresses", False))
    block = capacity == "capacity-block"
    own_image = image.startswith("ami-")
    efa = network == "efa"
    layout = [Interface(0, 0, "interface")] if public else []
    if efa:
        # The rules ensure that all types of the pool have the same network cards.
        fabric = min(record.efa_interfaces for record in records)
        layout = interfaces(fabric, records[0].first_card_has_efa is not False)
    labels = {
        **node_labels(
            name,
            [record.gpu_model for record in records],
            pool["zones"],
            {"capacity": capacity, "placement": placement, "network": network},
        ),
        ACCELERATOR: label_value(f"nvidia-{records[0].gpu_model.lower()}"),
        **pool.get("labels", {}),
    }
    taints = merge_gpu_taint(pool.get("taints", []))
    least = int(pool.get("min", 0))
    return GpuNodeGroupPlan(
        types=list(pool["types"]),
        zones=list(pool["zones"]),
        capacity=capacity,
        placement=placement,
        network=network,
        image=image,
        min_size=least,
        desired_size=int(pool.get("desired", least)),
        max_size=int(pool["max"]),
        ami_type="CUSTOM" if own_image else _ami_type(image, records[0].architecture),
        image_id=image if own_image else None,
        capacity_type=_EKS_CAPACITY[capacity],
        api_types=None if block else list(pool["types"]),
        template_type=pool["types"][0] if block else None,
        market="capacity-block" if block else None,
        reservation_id=pool.get("reservation_id"),
        placement_group=pool.get("placement_group"),
        interfaces=layout,
        public_addresses=public,
        key_pair=pool.get("key_pair"),
        disks=_disks(image, int(pool.get("disk_gib", 100))),
        disk_speed=disk_speed(pool),
        labels=labels,
        taints=taints,
        resource_tags=resource_tags(records, efa=efa),
        taint_tags=taint_tags(taints),
    )


def _ami_type(image: str, architecture: str) -> str:
    """EKS's name for an image with NVIDIA's driver, for instance AL2023_x86_64_NVIDIA."""
    return f"{_EKS_IMAGE[image]}_{_EKS_ARCHITECTURE[architecture]}_NVIDIA"


def _disks(image: str, gib: int) -> dict[str, int | None]:
    """Bottlerocket keeps its system on xvda, at a fixed size, and containers on xvdb; Amazon Linux has one disk."""
    return {"/dev/xvda": None, "/dev/xvdb": gib} if image == "bottlerocket" else {"/dev/xvda": gib}
