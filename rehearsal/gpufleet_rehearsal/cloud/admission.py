"""Puts resources into the cloud: what was asked for, what the cloud makes along with it, what a deletion leaves."""

from __future__ import annotations

from collections.abc import Mapping

from gpufleet_rehearsal.cloud.checks import usable_from
from gpufleet_rehearsal.cloud.creation import PlannedResource, operation_seconds, plan_resource
from gpufleet_rehearsal.cloud.scope import CloudView, ResourceRequest
from gpufleet_rehearsal.cloud.store import SimulatedResource
from gpufleet_rehearsal.table.model import TypeRow
from gpufleet_rehearsal.table.paths import Json, Scope
from gpufleet_rehearsal.table.templates import fill


def add_resource(cloud: CloudView, row: TypeRow, urn: str, made: PlannedResource) -> SimulatedResource:
    """Put a resource into the cloud, `creating` until what it names has settled and its own time is over."""
    here, now = made.request, cloud.clock.now()
    scope = Scope(here, cloud)
    took = operation_seconds(row.latency, "create", scope) * cloud.faults.slowness(here.type)
    ready = usable_from(cloud, row, scope) + (took if cloud.clock.counts else 0.0)
    cloud.store.count(f"made {urn}")
    there = cloud.store.get(here.type, here.id) if row.idempotent else None
    if there is not None:
        return cloud.store.change(
            there, inputs=made.inputs, outputs=made.outputs, urn=urn, name=here.name, ready_at=ready
        )
    resource = cloud.store.add(
        type_=here.type, id_=here.id, urn=urn, name=here.name, inputs=made.inputs, outputs=made.outputs,
        at=now, ready_at=ready,
    )  # fmt: skip
    for child, child_id in made.along:
        inputs = fill(dict(child.inputs), Scope(resource, cloud))
        _add_hidden(cloud, child.type, child_id, resource, inputs, ready, owner=resource.serial)
    return resource


def apply_update(
    cloud: CloudView, resource: SimulatedResource, made: PlannedResource, urn: str, ends: float
) -> SimulatedResource:
    """Change a resource to what an update asks for. Where others are held by it for a while after an update, until
    `ends` and then so long, it is remembered as it was."""
    lingering = (hold for row in cloud.table.types.values() for hold in row.deletion_blockers if hold.lingers)
    with cloud.store.transaction():
        if any(hold.type == resource.type for hold in lingering):
            cloud.store.keep_former(resource, ends)
        return cloud.store.change(
            resource,
            inputs=made.inputs,
            outputs=made.outputs,
            version=made.request.version,
            name=made.request.name,
            urn=urn,
        )


def add_leftovers(cloud: CloudView, row: TypeRow, resource: SimulatedResource) -> None:
    """Put into the cloud what the deletion of a resource leaves there and nobody owns; a failed one leaves nothing."""
    if resource.reasons:
        return
    scope = Scope(resource, cloud)
    for left in row.leftovers:
        if left.when.holds(scope):
            number = cloud.store.count(f"left by {resource.urn}")
            inputs = fill(dict(left.inputs), scope)
            view = inputs if isinstance(inputs, Mapping) else {}
            seed = ResourceRequest(left.type, f"{resource.id}/left/{number}", resource.name, view)
            left_id = str(fill(cloud.table.types[left.type].id, Scope(seed, cloud), "id"))
            _add_hidden(cloud, left.type, left_id, resource, inputs, cloud.clock.now(), owner=None)


def _add_hidden(
    cloud: CloudView, type_: str, id_: str, of: SimulatedResource, inputs: Json, at: float, owner: int | None
) -> None:
    given = inputs if isinstance(inputs, Mapping) else {}
    made = plan_resource(cloud, cloud.table.types[type_], type_, f"{of.urn}#{id_}", of.name, given, id_=id_)
    cloud.store.add(
        type_=type_, id_=id_, urn=of.urn, name=of.name, inputs=given, outputs=made.outputs, at=at, ready_at=at,
        owner=owner, hidden=True,
    )  # fmt: skip
