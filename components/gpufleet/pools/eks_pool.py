"""A pool of GPU nodes of EKS, as its owner describes it.

Type checkers know the legal values of each field; `gpufleet.rules.validate_pool` checks them when a program runs.
No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from gpufleet.pools.ec2_pool import Ec2Pool
from gpufleet.typed_dicts import NumberRange

Effect = Literal["NO_SCHEDULE", "NO_EXECUTE", "PREFER_NO_SCHEDULE"]
Capacity = Literal["on-demand", "spot", "reservation", "capacity-block"]


class Taint(TypedDict):
    """A Kubernetes taint on every node of a pool."""

    key: str
    """Key, for instance nvidia.com/gpu."""
    value: NotRequired[str]
    """Value; default: none."""
    effect: Effect
    """NO_SCHEDULE, NO_EXECUTE or PREFER_NO_SCHEDULE."""


class EksPool(Ec2Pool):
    """A pool of GPU nodes. Plain values: rules validate them before any resource exists."""

    types: Sequence[str]
    """Instance types, in order of preference, for instance [p5.48xlarge]. One type unless capacity is spot."""
    desired: NotRequired[int]
    """Nodes at first creation; the autoscaler owns the number afterwards. Default: min."""
    max: Annotated[int, NumberRange(1)]
    """Most nodes that may run, at least 1. Cost gates look at this number."""
    zones: Sequence[str]
    """Zone ids, for instance [use1-az1]: physical zones, unlike zone names such as us-east-1a."""
    capacity: NotRequired[Capacity]
    """on-demand, spot, reservation or capacity-block. Default on-demand."""
    reservation_id: NotRequired[str]
    """Id of the reservation (cr-...), with capacity reservation or capacity-block."""
    image: NotRequired[str]
    """al2023, bottlerocket, or the id of your own image (ami-...). Default al2023."""
    version: NotRequired[str]
    """Kubernetes version of the nodes, for instance "1.35": at most three minor versions older than the cluster's, and
    none with your own image, which has its own. A newer one replaces the nodes, a third at a time. Default: the
    cluster's, so that the nodes follow it."""
    cuda: NotRequired[str]
    """CUDA version that the jobs' image is built for, for instance "12.8": validated against the driver in ``image``
    and against the GPUs; no resource uses it. Default: not validated."""
    disk_gib: NotRequired[int]
    """Size of the encrypted root disk in GiB. Default 100."""
    public_addresses: NotRequired[bool]
    """Whether nodes get public IPv4 addresses. Default False."""
    labels: NotRequired[Mapping[str, str]]
    """Kubernetes labels of the nodes. Default: none."""
    taints: NotRequired[Sequence[Taint]]
    """Kubernetes taints of the nodes. Default: none; the component adds its own for GPUs."""
