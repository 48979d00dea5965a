"""The fields that every pool of EC2 instances has, be it of EKS or of AWS Batch.

No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from typing import Literal, NotRequired, TypedDict

Placement = Literal["none", "create", "existing"]
Fabric = Literal["plain", "efa"]


class Ec2Pool(TypedDict):
    """Nodes that are EC2 instances."""

    min: NotRequired[int]
    """Nodes that always run. Default 0."""
    placement: NotRequired[Placement]
    """none, create (a cluster placement group of the pool's own) or existing. Default none."""
    placement_group: NotRequired[str]
    """Name of the placement group, with placement=existing."""
    network: NotRequired[Fabric]
    """plain, or efa for one EFA interface per network card. Default plain."""
    key_pair: NotRequired[str]
    """Name of an EC2 key pair for SSH. Default: none."""
