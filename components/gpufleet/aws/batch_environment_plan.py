"""Plan of a Batch compute environment: what its arguments determine, as plain values. Creates no resource."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.aws.efa import interfaces
from gpufleet.aws.launch_template_plan import LaunchTemplatePlan, disk_speed
from gpufleet.catalog import gpu_type
from gpufleet.rules import coerce

IMAGE_TYPE = "ECS_AL2023_NVIDIA"
"""Batch's image with NVIDIA's driver; an image of the customer's own takes its place under the same name."""
LONGEST_UPDATE_MINUTES = 360
"""The longest that the provider lets jobs run on while Batch replaces their nodes; Batch's default is 30."""

_STRATEGY = {"EC2": "BEST_FIT_PROGRESSIVE", "SPOT": "SPOT_PRICE_CAPACITY_OPTIMIZED"}


@dataclass(frozen=True, kw_only=True)
class BatchEnvironmentPlan(LaunchTemplatePlan):
    """Everything of a compute environment that its arguments alone determine."""

    types: Sequence[str]
    zones: Sequence[str]
    compute_type: str
    """Batch's compute environment type: EC2 or SPOT."""
    strategy: str
    min_vcpus: int
    max_vcpus: int
    image_override: str | None
    """The customer's own image; it goes to the environment, which updates in place, and not to the template."""
    placement: str
    placement_group: str | None
    """Name of an existing group."""
    network: str


def plan_batch_environment(args: Mapping[str, object]) -> BatchEnvironmentPlan:
    """Plan the environment of ``args``, which have passed :func:`gpufleet.rules.validate_batch_environment`.

    Batch limits vCPUs, not nodes. The limit is nodes times the vCPUs of the smallest type: with types of one size,
    which a rule asks for, exactly that many nodes of any of them; else fewer nodes of the larger types, and never
    more nodes than were asked for.
    """
    types = coerce.texts(args, "types")
    records = [gpu_type(each) for each in types]
    smallest = min(record.vcpus for record in records)
    network = coerce.text(args, "network", "plain")
    compute_type = "SPOT" if coerce.text(args, "capacity", "on-demand") == "spot" else "EC2"
    image = coerce.text(args, "image", "al2023")
    fabric = min(record.efa_interfaces for record in records)
    return BatchEnvironmentPlan(
        image_id=None,
        template_type=None,
        market=None,
        reservation_id=coerce.text(args, "reservation_id") or None,
        # The rules have seen to it that all types of an environment with EFA have the same cards.
        interfaces=interfaces(fabric, records[0].first_card_has_efa is not False) if network == "efa" else [],
        public_addresses=False,
        key_pair=coerce.text(args, "key_pair") or None,
        disks={"/dev/xvda": coerce.whole(args, "disk_gib", 100)},
        disk_speed=disk_speed(args),
        types=list(types),
        zones=list(coerce.texts(args, "zones")),
        compute_type=compute_type,
        strategy=coerce.text(args, "strategy") or _STRATEGY[compute_type],
        min_vcpus=coerce.whole(args, "min", 0) * smallest,
        max_vcpus=coerce.whole(args, "max", 1) * smallest,
        image_override=image if image.startswith("ami-") else None,
        placement=coerce.text(args, "placement", "none"),
        placement_group=coerce.text(args, "placement_group") or None,
        network=network,
    )
