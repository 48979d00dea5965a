"""Why the cloud says no: everything that is looked at before its state changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.resource import SimulatedResource, normalized_handle
from gpufleet_rehearsal.cloud.scope import CloudView, ResourceRequest
from gpufleet_rehearsal.table.conditions import same
from gpufleet_rehearsal.table.model import DeletionBlocker, Operation, Reference, Refusal, TypeRow
from gpufleet_rehearsal.table.paths import Json, ResourceView, Scope, parse_path, plain
from gpufleet_rehearsal.table.templates import fill

HANDLES = ("id", "arn", "name")
"""What the store finds a resource by; any other property is looked for in each."""


class CloudError(UserError):
    """The cloud rejects at once, and nothing has changed. As text: "<code>: <words>", or the words without a code."""

    def __init__(self, code: str, text: str) -> None:
        self.code, self.text = code, text
        super().__init__(f"{code}: {text}" if code else text)


@dataclass(frozen=True)
class Rejection:
    """A refusal, and for how many seconds the genuine provider repeats the call before it gives up."""

    code: str
    text: str
    retries: float = 0.0

    @property
    def error(self) -> CloudError:
        return CloudError(self.code, self.text)


def error_text(template: str, scope: Scope) -> str:
    """The text of a refusal; a path in it that leads nowhere reads as x."""
    filled = fill(template, scope)
    if filled is not None:
        return plain(filled)
    pieces = template.replace("}", "{").split("{")
    return "".join(p if n % 2 == 0 else plain(fill(f"{{{p}}}", scope) or "x") for n, p in enumerate(pieces))


_VALUE = re.compile(r"\{value(?=[ }])")


def reference_error(reference: Reference, value: str, scope: Scope) -> str:
    """The words for a `value` that names what is not there: `{value}` in them is as given, `{value | base}` its end."""
    return error_text(_VALUE.sub("{$it", reference.text), scope.with_item(value))


def missing_reference(cloud: CloudView, row: TypeRow, scope: Scope) -> Rejection | None:
    """A resource that is named, and is not there, not ready yet or going."""
    for path, reference in row.references.items():
        for value in parse_path(path).values(scope):
            handle = plain(value)
            if handle == "" or reference.unless_matches(handle):
                continue
            found = referenced_resources(cloud, reference, handle, scope.here)
            seen = [thing for thing in found if reference.any_region or _is_in_one_region(thing, scope.here)]
            if not any(cloud.status(thing) == "available" for thing in seen):
                return Rejection(reference.code, reference_error(reference, handle, scope))
    return None


def _is_in_one_region(one: ResourceView, other: ResourceView) -> bool:
    """Whether nothing says that they lie in two regions; what is global, and all of Azure, has none."""
    regions = {thing.view.get("region") for thing in (one, other)} - {None}
    return len(regions) < 2


def referenced_resources(
    cloud: CloudView, reference: Reference, handle: str, thing: ResourceView
) -> list[SimulatedResource]:
    """The resources that a value of a reference of `thing` means."""
    if reference.id is not None:
        return list(cloud.reference_targets(reference, thing, handle))
    named = cloud.find(handle, reference.to) if reference.by in HANDLES else _all(cloud, reference.to)
    return [thing for thing in named if _called(cloud, thing, reference.by, handle)]


def _all(cloud: CloudView, types: Sequence[str]) -> list[SimulatedResource]:
    return [thing for type_ in types for thing in cloud.resources_of(type_)]


def _called(cloud: CloudView, thing: SimulatedResource, by: str, handle: str) -> bool:
    return (
        normalized_handle(thing.id) == normalized_handle(handle)
        if by == "id"
        else any(same(v, handle) for v in parse_path(by).values(Scope(thing, cloud)))
    )


def uniqueness_violation(
    cloud: CloudView, row: TypeRow, scope: Scope, own: SimulatedResource | None
) -> Rejection | None:
    """Something that can only be there once, and is."""
    here, exists = scope.here, cloud.table.row.exists
    there_already = own is None and not row.idempotent and bool(cloud.find(here.id, [here.type]))
    if there_already and exists is not None:
        return Rejection(exists.code, error_text(exists.text, scope))
    for unique in row.unique:
        if unique.when is not None and not unique.when.holds(scope):
            continue
        mine = [(parse_path(path), parse_path(path).values(scope)) for path in unique.by]
        for other in cloud.resources_of(here.type):
            if own is not None and other.serial == own.serial:
                continue
            there = scope.at(other)
            # Without paths it is the id that can only be there once.
            equal = all(any(same(a, b) for b in path.values(there) for a in values) for path, values in mine)
            if equal if mine else other.id == here.id:
                return Rejection(unique.code, error_text(unique.text, scope))
    if there_already and cloud.store.get(here.type, here.id) is not None:
        return Rejection("ResourceAlreadyExists", f"a {here.type} of id {here.id!r} is already there")
    return None


def refusals(cloud: CloudView, operation: Operation, scope: Scope, comes: str) -> Iterator[Refusal]:
    """Rows of the table that reject a request. An update meets also those of create that it newly brings about."""
    for row in cloud.table.refusals_of(scope.here.type, operation):
        if row.comes == comes and row.when.holds(scope):
            yield row
    if operation == "update" and scope.old is not None:
        before = Scope(ResourceRequest(scope.here.type, scope.here.id, scope.here.name, scope.old), cloud)
        for row in cloud.table.refusals_of(scope.here.type, "create"):
            if row.comes == comes and row.when.holds(scope) and not row.when.holds(before):
                yield row


def create_rejection(
    cloud: CloudView, row: TypeRow, operation: Operation, scope: Scope, own: SimulatedResource | None = None
) -> Rejection | None:
    """The first thing, if any, for which the cloud rejects a create or an update (of `own`) at once."""
    cloud.faults.forget_met()
    if no := missing_reference(cloud, row, scope):
        return no
    if operation == "create" and (no := uniqueness_violation(cloud, row, scope, own)):
        return no
    for refusal in refusals(cloud, operation, scope, "at-once"):
        cloud.faults.met_capacity()
        return Rejection(refusal.code, error_text(refusal.text, scope), refusal.retries)
    return None


def cascade_of(cloud: CloudView, row: TypeRow, target: SimulatedResource) -> list[SimulatedResource]:
    """What a deletion of `target` takes along, where ids are a tree: what lies in it. What is only set again (a put,
    the properties of a service) always is there; its deletion takes nothing from what lies below its id."""
    return cloud.store.below(target.id) if cloud.table.row.ids == "tree" and not row.idempotent else []


def deletion_rejection(cloud: CloudView, row: TypeRow, target: SimulatedResource) -> Rejection | None:
    """Why the cloud rejects to delete a resource."""
    scope = Scope(target, cloud)
    for refusal in refusals(cloud, "delete", scope, "at-once"):
        return Rejection(refusal.code, error_text(refusal.text, scope), refusal.retries)
    within = cascade_of(cloud, row, target)
    for one in (target, *within):
        its_row = cloud.table.types[one.type] if one is not target else row
        for hold in its_row.deletion_blockers:
            for holder in _holders(cloud, hold):
                # What goes along with the target holds nothing of it.
                goes_along = any(holder.serial == other.serial for other in within)
                if (
                    holder.owner != one.serial
                    and holder.serial != target.serial
                    and (not goes_along or (hold.nested and one is target))
                    and _holds(cloud, hold, holder, one.handles)
                ):
                    return Rejection(hold.code, error_text(hold.text, Scope(one, cloud)), hold.retries)
    return None


def _holders(cloud: CloudView, hold: DeletionBlocker) -> Iterator[SimulatedResource]:
    """What may hold: as it is, and as it was before an update that the cloud has not everywhere taken in yet."""
    yield from cloud.store.resources(hold.type, gone=hold.settles > 0)
    if hold.lingers and cloud.clock.counts:
        yield from cloud.store.former(hold.type, cloud.clock.now() - hold.lingers)


def _holds(cloud: CloudView, hold: DeletionBlocker, holder: SimulatedResource, handles: set[str]) -> bool:
    if holder.deleted_at is not None:
        still_seen = cloud.clock.counts and cloud.clock.now() < holder.deleted_at + hold.settles
        if not still_seen:
            return False
    scope = Scope(holder, cloud)
    named = any(isinstance(v, str) and normalized_handle(v) in handles for v in parse_path(hold.by).values(scope))
    return named and (hold.when is None or hold.when.holds(scope))


def usable_from(cloud: CloudView, row: TypeRow, scope: Scope) -> float:
    """The simulated moment from which everything that a request names may be used (IAM propagation)."""
    moment = cloud.clock.now()
    for path, reference in row.references.items():
        for value in parse_path(path).values(scope):
            for thing in cloud.reference_targets(reference, scope.here, plain(value)):
                settle = cloud.table.types[thing.type].settle
                if settle is not None and cloud.clock.counts:
                    moment = max(moment, thing.ready_at + settle.seconds)
    return moment


def view_of(inputs: Mapping[str, Json], resource: SimulatedResource) -> Mapping[str, Json]:
    """What an update looks at: the new inputs, and of the old view what was computed."""
    computed = {key: value for key, value in resource.outputs.items() if key not in resource.inputs}
    return {**computed, **inputs}
