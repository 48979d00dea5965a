"""A pool of Azure Batch, as its owner describes it: the fields of a GPU pool, and those of Batch.

No `from __future__ import annotations` here: the component host reads the annotations as objects.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from gpufleet.typed_dicts import NumberRange

Capacity = Literal["on-demand", "spot"]
Fabric = Literal["plain", "infiniband"]
Scaling = Literal["auto", "fixed"]


class AzureBatchPool(TypedDict):
    """A pool of Azure Batch. Plain values: rules validate them before any resource exists."""

    types: Sequence[str]
    """Exactly one VM size, for instance [Standard_NC4as_T4_v3]."""
    min: NotRequired[int]
    """Nodes that always run. Default 0."""
    desired: NotRequired[int]
    """Nodes of a pool with scaling=fixed, from min to max. Default: min."""
    max: Annotated[int, NumberRange(1)]
    """Most nodes that may run, at least 1. Cost gates look at this number."""
    capacity: NotRequired[Capacity]
    """on-demand (Batch: dedicated) or spot (Batch: low priority). Default on-demand."""
    network: NotRequired[Fabric]
    """plain, or infiniband, for which size and image must have it. Default plain."""
    scaling: NotRequired[Scaling]
    """auto: from min to max by a formula that looks at waiting and running tasks. fixed: `desired` nodes, for ever or
    until somebody resizes the pool. Default auto."""
    task_nodes: NotRequired[int]
    """Most nodes of one task. Above 1 for multi-instance tasks: nodes may then talk to each other, and the pool has at
    most 100. Default 1."""
    idle_minutes: NotRequired[Annotated[int, NumberRange(5, 60)]]
    """With scaling=auto: how long fewer nodes must have been enough before the others go, 5 to 60. Default 15."""
    image: NotRequired[str]
    """publisher:offer:sku[:version] of the marketplace, or the id of an image in a compute gallery.
    Default microsoft-dsvm:ubuntu-hpc:2404."""
    node_agent: NotRequired[str]
    """Id of the node agent SKU, such as batch.node.ubuntu 24.04. Needed with an image that is not in the catalog."""
    disk_gib: NotRequired[int]
    """Size of the system disk in GiB, at least that of the image. Default 128: images of jobs lie there too."""
    start_command: NotRequired[str]
    """Lines of bash that run as root on each node before its first task; a node where they fail takes no task.
    Default: none."""
