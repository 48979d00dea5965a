"""What a launch template says about each node of a pool, whichever service starts the nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.aws.efa import Interface
from gpufleet.rules import coerce
from gpufleet.rules.aws.disk import DEFAULT_TYPE, default_iops


@dataclass(frozen=True)
class DiskSpeed:
    """Kind of a disk, and what is bought beyond what the kind has. throughput: MiB/s."""

    type: str = DEFAULT_TYPE
    iops: int | None = None
    throughput: int | None = None


def disk_speed(pool: Mapping[str, object]) -> DiskSpeed:
    """From a pool's words, with the defaults of the disk's type."""
    kind = coerce.text(pool, "disk_type", DEFAULT_TYPE)
    throughput = coerce.whole(pool, "disk_throughput", 0) or None
    return DiskSpeed(kind, coerce.whole(pool, "disk_iops", 0) or default_iops(kind, throughput), throughput)


@dataclass(frozen=True, kw_only=True)
class LaunchTemplatePlan:
    """The part of a pool's plan that goes into its launch template."""

    image_id: str | None
    """The customer's own image, in the template."""
    template_type: str | None
    """The instance type, where the template has to name it."""
    market: str | None
    """EC2's market type, if the template must set it."""
    reservation_id: str | None
    interfaces: Sequence[Interface]
    """Empty: one plain interface as EC2 makes it, security groups at instance level."""
    public_addresses: bool
    key_pair: str | None
    disks: Mapping[str, int | None]
    """Device name to GiB; None = the size that the image has."""
    disk_speed: DiskSpeed
    """Of the disks with a size."""
