"""A pool of nodes in the plan of any program, described by the arguments of `gpufleet.pools.eks_pool`.

A managed node group, a compute environment, an agent pool, a Batch pool or a single machine: each is a number of
nodes of some types, in some zones, with some purchase option. Rules, prices and quotas use only that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpufleet.plan.resource import UNKNOWN, Resource


@dataclass(frozen=True)
class PlannedPool:
    """One pool of a plan.

    kind: node-group, batch, autoscaling-group or machine on AWS; agent-pool, batch-pool or scale-set on Azure.
    intent: the arguments of `gpufleet.pools.eks_pool.EksPool` that are known (types, min, desired, max, zones ...).
    unknown: arguments whose values are not known at preview; they are not in `intent`.
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


@dataclass
class PoolBuilder:
    """The arguments of a pool while it is read from a plan: values that are known, and names whose value is not."""

    known: dict[str, object] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)

    def set(self, argument: str, value: object) -> None:
        """Set an argument. `UNKNOWN` marks it as unknown; None leaves it out, so that its default holds."""
        if value is UNKNOWN:
            self.unknown.append(argument)
        elif value is not None:
            self.known[argument] = value

    def set_list(self, argument: str, values: Sequence[object]) -> None:
        """Set an argument to a list of strings; one unknown entry makes the argument unknown."""
        texts = [each for each in values if isinstance(each, str)]
        self.set(argument, UNKNOWN if len(texts) < len(values) else texts or None)

    def build(
        self,
        resource: Resource,
        cloud: str,
        kind: str,
        region: str | None,
        gpu: bool | None,
        *,
        places: Sequence[str] = (),
        most_by_type: Mapping[str, int] | None = None,
        interfaces: int | None = None,
    ) -> PlannedPool:
        """The pool with these arguments. The others: see `PlannedPool`."""
        return PlannedPool(
            resource=resource,
            cloud=cloud,
            kind=kind,
            region=region,
            intent=self.known,
            unknown=tuple(dict.fromkeys(self.unknown)),
            gpu=gpu,
            places=places,
            most_by_type=most_by_type or {},
            interfaces=interfaces,
        )
