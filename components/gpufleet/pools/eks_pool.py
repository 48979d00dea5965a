"""A GPU pool as its owner thinks of it. The same words on every cloud.

Type checkers know the closed lists of words; `gpufleet.rules.validate_pool` checks them when a program runs.
No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

Effect = Literal["NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"]
Placement = Literal["none", "create", "existing"]
Capacity = Literal["on-demand", "spot", "reservation", "capacity-block"]
Fabric = Literal["plain", "efa"]


class Taint(TypedDict):
    """A Kubernetes taint on every node of a pool."""

    key: str
    """Key, for instance nvidia.com/gpu."""
    value: NotRequired[str]
    """Value; default: none."""
    effect: Effect
    """NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE."""


class EksPool(TypedDict):
    """What a pool of GPU nodes is to be. Plain values: rules judge them before anything exists."""

    types: Sequence[str]
    """Instance types, in order of preference, for instance [p5.48xlarge]. One type unless capacity is spot."""
    min: NotRequired[int]
    """Nodes that always run. Default 0."""
    desired: NotRequired[int]
    """Nodes at first creation; the autoscaler owns the number afterwards. Default: min."""
    max: int
    """Most nodes that may run, at least 1. Cost gates look at this number."""
    zones: Sequence[str]
    """Zone ids, for instance [use1-az1]: physical zones, unlike zone names such as us-east-1a."""
    placement: NotRequired[Placement]
    """none, create (a cluster placement group of the pool's own) or existing. Default none."""
    placement_group: NotRequired[str]
    """Name of the placement group, with placement=existing."""
    capacity: NotRequired[Capacity]
    """on-demand, spot, reservation or capacity-block. Default on-demand."""
    reservation_id: NotRequired[str]
    """Id of the reservation (cr-...), with capacity reservation or capacity-block."""
    network: NotRequired[Fabric]
    """plain, or efa for one EFA interface per network card. Default plain."""
    image: NotRequired[str]
    """al2023, bottlerocket, or the id of an image of your own (ami-...). Default al2023."""
    cuda: NotRequired[str]
    """CUDA version that the jobs' image is built for, for instance "12.8": judged against the driver in ``image`` and
    against the GPUs; nothing is made of it. Default: not judged."""
    key_pair: NotRequired[str]
    """Name of an EC2 key pair for SSH. Default: none."""
    disk_gib: NotRequired[int]
    """Size of the encrypted root disk in GiB. Default 100."""
    public_addresses: NotRequired[bool]
    """Whether nodes get public IPv4 addresses. Default False."""
    labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes. Default: none."""
    taints: NotRequired[Sequence[Taint]]
    """Kubernetes taints of the nodes. Default: none; the component adds its own for GPUs."""
