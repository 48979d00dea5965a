"""The fields that every pool of EC2 instances has, be it of EKS or of AWS Batch.

No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from typing import Literal, NotRequired, TypedDict

Placement = Literal["none", "create", "existing"]
Fabric = Literal["plain", "efa"]
DiskKind = Literal["gp3", "io2"]


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
    disk_type: NotRequired[DiskKind]
    """EBS volume type of the root disk: gp3 or io2. Default gp3."""
    disk_iops: NotRequired[int]
    """IOPS of the root disk: gp3 3,000 to 80,000, io2 100 to 256,000. Default 3,000; of gp3 four for each MiB/s of
    disk_throughput where that is more."""
    disk_throughput: NotRequired[int]
    """MiB/s of a gp3 root disk, 125 to 2,000. Default 125. Images of jobs of 10 GiB take 80 s to unpack at 125; a type
    with local NVMe disks holds them there."""
    key_pair: NotRequired[str]
    """Name of an EC2 key pair for SSH. Default: none."""
