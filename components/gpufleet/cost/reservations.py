"""Reservations that a plan creates itself: they have their own line, so their nodes are not counted twice."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from gpufleet.cost.line_item import FIGURES, Amounts, amount_of
from gpufleet.cost.usage_assumptions import HOURS
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.property_values import get_path, value_of
from gpufleet.plan.resource import Plan, Resource

_AWS = "aws:ec2/capacityReservation:CapacityReservation"
_GROUP = "compute:CapacityReservationGroup"
_AZURE = "compute:CapacityReservation"


@dataclass(frozen=True, slots=True)
class PlannedReservation:
    """A reservation of the same plan for a pool. nodes: of the pool that it pays for; None: not known, inf: all."""

    name: str
    nodes: float | None

    def beyond(self, running: Amounts) -> Amounts:
        """Hours of nodes that run beside the reserved ones: Azure starts those too, at the on-demand price."""
        if self.nodes is None:
            return Amounts.always(None)
        if math.isinf(self.nodes):
            return Amounts.always(0.0)
        hours = self.nodes * HOURS
        left = (None if (amount := running.of(figure)) is None else max(0.0, amount - hours) for figure in FIGURES)
        return Amounts(*left)


def planned_reservation(pool: PlannedPool, plan: Plan, types: Sequence[str]) -> PlannedReservation | None:
    """The reservation that this very plan makes for a pool, which then has its own line.

    On AWS a pool on a reservation never has more nodes than that holds. On Azure it may, and several pools may take
    from one group: its nodes are counted for the first of them only.
    """
    if pool.cloud == "azure":
        return _on_azure(pool.resource, AzureGraph(plan), types)
    if "reservation_id" not in pool.unknown:
        return None
    made = plan.of_type(_AWS)
    return next(
        (PlannedReservation(each.name, math.inf) for each in made if each.inputs.get("instanceType") in types), None
    )


def _on_azure(resource: Resource, graph: AzureGraph, types: Sequence[str]) -> PlannedReservation | None:
    groups = _groups(resource, graph)
    sizes = {name.lower() for name in types}
    held = [
        each
        for each in graph.of(_AZURE)
        if any(group in groups for group in graph.behind(each, "capacityReservationGroupName", _GROUP))
        and str(get_path(value_of(each, "sku"), "name")).lower() in sizes
    ]
    if not held:
        return None
    name = ", ".join(each.name for each in held)
    first = next(each for each in graph.plan.resources if _users(each, graph, groups))
    if first is not resource:
        return PlannedReservation(name, 0.0)
    counts = [amount_of(get_path(value_of(each, "sku"), "capacity")) for each in held]
    known = [count for count in counts if count is not None]
    return PlannedReservation(name, sum(known) if len(known) == len(counts) else None)


def _users(resource: Resource, graph: AzureGraph, groups: Sequence[Resource]) -> bool:
    """Whether a resource takes nodes from one of these groups; the reservations in them do not."""
    return graph.kind(resource) != _AZURE and any(group in groups for group in _groups(resource, graph))


def _groups(resource: Resource, graph: AzureGraph) -> list[Resource]:
    """The capacity reservation groups of the plan that any property of a resource was made from."""
    return [group for name in resource.depends for group in graph.behind(resource, name, _GROUP)]
