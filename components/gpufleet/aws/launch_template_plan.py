"""What a launch template says about each node of a pool, whichever service starts the nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.aws.efa import Interface


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
