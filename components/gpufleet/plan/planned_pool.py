"""What a pool of nodes in a plan is, in the words of `gpufleet.pools.eks_pool`, whoever wrote the program.

A managed node group, a compute environment, an agent pool, a Batch pool or a single machine: each is a number of
nodes of some types, somewhere, bought in some way. Rules, prices and quotas are about that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpufleet.plan.resource import Resource


@dataclass(frozen=True)
class PlannedPool:
    """One pool of a plan.

    kind: node-group, batch, autoscaling-group or machine on AWS; agent-pool, batch-pool or scale-set on Azure.
    intent: the words of `gpufleet.pools.eks_pool.EksPool` that are known (types, min, desired, max, zones, placement ...).
    unknown: words whose values are not known at preview; they are not in `intent`.
    gpu: whether any of its types has a GPU by the catalog; None where the types are not known.
    """

    resource: Resource
    cloud: str
    kind: str
    region: str | None
    intent: Mapping[str, object]
    unknown: Sequence[str] = field(default=())
    gpu: bool | None = None
    places: Sequence[str] = field(default=())
    """Different zones that it certainly lies in, where `zones` is unknown: ids, or names that no id is known for."""
    most_by_type: Mapping[str, int] = field(default_factory=dict)
    """Most nodes if all were of that type, where vCPUs are limited and not nodes (AWS Batch); then `max` is the
    greatest of them. Empty: `max`, whatever the type. The dearest hour is the greatest of nodes x price by type."""
    interfaces: int | None = None
    """Network interfaces of each node; None where that is not known."""
