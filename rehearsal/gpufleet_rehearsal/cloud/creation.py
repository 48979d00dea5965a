"""How the table turns a request into a resource: its id, what the cloud fills in, its computed outputs, its tags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet_rehearsal.cloud.change import UNKNOWN
from gpufleet_rehearsal.cloud.naming import ending_of, name_of_prefix, prefix_of
from gpufleet_rehearsal.cloud.scope import CloudView, ResourceRequest
from gpufleet_rehearsal.cloud.store import merged
from gpufleet_rehearsal.table.model import ImplicitResource, Latency, Operation, Timing, TypeRow
from gpufleet_rehearsal.table.paths import Json, Scope
from gpufleet_rehearsal.table.templates import fill, has_generator


@dataclass(frozen=True)
class PlannedResource:
    """A resource as it will be when it is accepted, and the hidden ones that the cloud makes along with it."""

    request: ResourceRequest
    inputs: Mapping[str, Json]
    outputs: Mapping[str, Json]
    along: tuple[tuple[ImplicitResource, str], ...]
    """With the id of each."""


def plan_resource(
    cloud: CloudView,
    row: TypeRow,
    type_: str,
    urn: str,
    name: str,
    inputs: Mapping[str, Json],
    *,
    id_: str | None = None,
    version: int = 1,
) -> PlannedResource:
    """What the cloud would make of a request. With `id_` it is an update: generated outputs stay as they were."""
    number = cloud.store.counted(f"made {urn}") + 1
    here = ResourceRequest(type_, id_ or f"{urn}#{number}", name, inputs, version)
    named = _named(cloud, row, here, inputs, id_)
    filled = named | _defaults(cloud, row, here, merged(inputs, named))
    here = ResourceRequest(type_, here.id, name, merged(inputs, filled), version)
    made_id = id_ or str(fill(row.id, Scope(here, cloud), "id"))
    outputs: dict[str, Json] = dict(filled)
    here = ResourceRequest(type_, made_id, name, here.view, version)
    along: list[tuple[ImplicitResource, str]] = []
    for n, child in enumerate(row.implicit_resources):
        if child.when is None or child.when.holds(Scope(here, cloud)):
            given = fill(dict(child.inputs), Scope(here, cloud))
            view = merged(here.view, given) if isinstance(given, Mapping) else here.view
            seed = ResourceRequest(child.type, f"{made_id}/{n}", name, view)
            child_id = str(fill(cloud.table.types[child.type].id, Scope(seed, cloud), "id"))
            along.append((child, child_id))
            if child.output is not None:
                _put(outputs, child.output, child_id)
    provider_row = cloud.table.row
    if provider_row.region_output and row.scope == "regional" and "region" not in inputs:
        outputs["region"] = cloud.region
    if provider_row.default_tags and row.taggable:
        tags = inputs.get("tags")
        outputs["tagsAll"] = {**cloud.default_tags, **(tags if isinstance(tags, Mapping) else {})}
    for output, template in _computed(cloud, row, here):
        here = ResourceRequest(type_, made_id, name, merged(inputs, outputs), version)
        value = fill(template, Scope(here, cloud), output)
        if value is not None:
            _put(outputs, output, value)
    here = ResourceRequest(type_, made_id, name, merged(inputs, outputs), version)
    return PlannedResource(here, inputs, outputs, tuple(along))


def _named(
    cloud: CloudView, row: TypeRow, here: ResourceRequest, inputs: Mapping[str, Json], id_: str | None
) -> dict[str, Json]:
    """The name that is made of a prefix. It is computed, no input; an update (`id_`) leaves it as it is."""
    prefix = prefix_of(row.autoname, inputs)
    if prefix is None or row.autoname is None:
        return {}
    there = cloud.store.get(here.type, id_) if id_ is not None else None
    kept = there.view.get(row.autoname.property) if there is not None else None
    made = name_of_prefix(prefix, here.type, here.id) + ending_of(row.autoname, inputs)
    return {row.autoname.property: kept or made}


def _computed(cloud: CloudView, row: TypeRow, here: ResourceRequest) -> list[tuple[str, Json]]:
    """The outputs that a resource has, with their templates. Their conditions look at inputs and defaults."""
    further = (one.outputs for one in row.outputs_when if one.when.holds(Scope(here, cloud)))
    return [pair for outputs in (row.outputs, *further) for pair in outputs.items()]


def _defaults(cloud: CloudView, row: TypeRow, here: ResourceRequest, inputs: Mapping[str, Json]) -> dict[str, Json]:
    filled: dict[str, Json] = {}
    there = cloud.store.get(here.type, here.id)
    for path, template in row.defaults.items():
        *above, last = keys = path.split(".")
        inside = _under(inputs, above)
        if isinstance(inside, Mapping) and inside.get(last) is None:
            # What was made up at the create stays at updates; by then the id, of which it was made, is another one.
            value = _under(there.outputs, keys) if there is not None and has_generator(template) else None
            if value is None:
                view = merged(inputs, filled)
                value = fill(
                    template, Scope(ResourceRequest(here.type, here.id, here.name, view), cloud), f"default {path}"
                )
            if value is not None:
                _put(filled, path, value)
    return filled


def _under(value: Json, keys: Sequence[str]) -> Json:
    """What lies under the keys, one below the other; None where nothing does."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _put(outputs: dict[str, Json], path: str, value: Json) -> None:
    *above, last = path.split(".")
    inside = outputs
    for key in above:
        under = inside.get(key)
        inside[key] = deeper = dict(under) if isinstance(under, Mapping) else {}
        inside = deeper
    inside[last] = value


def preview_outputs(
    cloud: CloudView, row: TypeRow, type_: str, urn: str, name: str, inputs: Mapping[str, Json]
) -> dict[str, Json]:
    """Outputs of a resource that is not there yet: its inputs and defaults, everything computed unknown."""
    here = ResourceRequest(type_, urn, name, inputs)
    outputs: dict[str, Json] = _defaults(cloud, row, here, inputs)
    if row.autoname is not None and prefix_of(row.autoname, inputs) is not None:
        outputs[row.autoname.property] = UNKNOWN
    further = (path for path, _ in _computed(cloud, row, ResourceRequest(type_, urn, name, merged(inputs, outputs))))
    for path in (*further, *(child.output for child in row.implicit_resources if child.output is not None)):
        _put(outputs, path, UNKNOWN)
    if cloud.table.row.default_tags and row.taggable:
        tags = inputs.get("tags")
        outputs["tagsAll"] = {**cloud.default_tags, **tags} if isinstance(tags, Mapping) else tags or UNKNOWN
    return merged(inputs, outputs, shown=True)


def operation_seconds(latency: Latency, operation: Operation, scope: Scope) -> float:
    """Simulated seconds that an operation takes by itself, by the first case that holds."""
    timing: Timing | None = getattr(latency, operation)
    if timing is None:
        return 1.0
    return next((case.seconds for case in timing.cases if case.when.holds(scope)), timing.seconds)
