"""Invokes that a simulated provider answers: about the account, and about resources that are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gpufleet_rehearsal.cloud.aws_lookups import COMPUTED
from gpufleet_rehearsal.cloud.checks import CloudError, error_text
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.scope import ResourceRequest
from gpufleet_rehearsal.table.cloud_rows import ErrorMessage, Lookup
from gpufleet_rehearsal.table.paths import Json, PropertyPath, Scope, json_items, json_objects, parse_path, plain
from gpufleet_rehearsal.table.templates import fill, parse_template

HOLDS = (
    "a rehearsal looks in the simulated account; list what the real one has under holds in rehearsal.<environment>.yaml"
)


def answer_invoke(cloud: Cloud, token: str, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """The answer to an invoke; the engine asks none whose arguments are not known yet.

    Errors: CloudError in the provider's words for wrong arguments and for a resource that is not there, and in the
    rehearsal's for look-ups that are not in the table.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if cloud.table.row.region.required and given.get("region", cloud.view.region) != cloud.view.region:
        raise CloudError(
            "", f"{token}: region: a rehearsal knows one region, the provider's, {cloud.view.region}; leave it out"
        )
    compute = COMPUTED.get(token)
    computed = compute(cloud.view, given) if compute else None
    if computed is not None:
        return {**given, **computed}
    row = cloud.table.lookups.get(token)
    if row is None:
        raise CloudError(
            "",
            f"{token}: the rehearsal cannot answer this look-up; pass what it would find by config, so that a preview "
            "needs no cloud either, or add a row to the table: see docs/rehearsal.md",
        )
    _check_arguments(row, token, given)
    request = Scope(ResourceRequest(row.type or "", token, "", given), cloud.view)
    if row.type is None:
        return given | _filled(row, request, token)
    found = _resources(cloud, row, row.type, token, request)
    if row.many:
        return given | _filled(row, request, token) | {"ids": [each.id for each in found]}
    if len(found) != 1:
        words = row.several if found and row.several else row.missing
        assert words is not None, f"{token}: the loader has seen that there are words"
        raise _refusal(words, request, row)
    return given | _filled(row, Scope(found[0], cloud.view), token)


def _filled(row: Lookup, scope: Scope, token: str) -> dict[str, Json]:
    answer = fill(dict(row.answer), scope, token)
    return dict(answer) if isinstance(answer, Mapping) else {}


def _refusal(words: ErrorMessage, request: Scope, row: Lookup) -> CloudError:
    text = error_text(words.text, request)
    return CloudError(words.code, text if row.id else f"{text}; {HOLDS}")


def _resources(cloud: Cloud, row: Lookup, type_: str, token: str, request: Scope) -> list[SimulatedResource]:
    """Those that the arguments select, the first made first."""
    if row.id is not None:
        types = [type_, *row.or_types]
        found: Iterable[SimulatedResource] = cloud.store.find(str(fill(row.id, request)), types)
        if not found and row.other_id is not None and (other := fill(row.other_id, request)) is not None:
            found = cloud.store.find(str(other), types)
    else:
        found = cloud.store.resources(type_)
    there = [each for each in found if cloud.status(each) == "available"]
    given = request.here.view
    for name, path in row.where.items():
        # A false flag selects nothing: the provider cannot tell it from an absent one.
        if name in given and given[name] is not False:
            there = _with_value(cloud, there, path, [given[name]])
    for each in json_objects(given.get("filters")) if row.filters else []:
        name, values = str(each.get("name")), json_items(each.get("values"))
        there = _with_value(cloud, there, _filter_path(row, token, name), values)
    tags = given.get("tags") if row.tags else None
    for key, value in tags.items() if isinstance(tags, Mapping) else ():
        there = _with_value(cloud, there, f'tags["{key}"]', [value])
    return there


def _filter_path(row: Lookup, token: str, name: str) -> str:
    if name in row.filters:
        return row.filters[name]
    kind, _, key = name.partition(":")
    if kind == "tag" and key:
        return f'tags["{key}"]'
    if name == "tag-key":
        return "tags | keys"
    known = ", ".join([*row.filters, "tag:KEY", "tag-key"])
    raise CloudError("", f"{token}: filters: {name!r} is not simulated; use one of {known}")


def _with_value(
    cloud: Cloud, resources: Sequence[SimulatedResource], path: str, values: Sequence[Json]
) -> list[SimulatedResource]:
    """The resources that have one of the values at the path."""
    wanted, read = {plain(value) for value in values}, parse_path(path)
    return [
        each
        for each in resources
        if wanted & {word for value in read.values(Scope(each, cloud.view)) for word in plain(value).split("\n")}
    ]


def _check_arguments(row: Lookup, token: str, given: Mapping[str, Json]) -> None:
    required = _arguments(row)
    for name in required:
        if not isinstance(given.get(name), str):
            raise CloudError("", f"{token}: {name}: missing, but required")
    known = [
        *required,
        *row.optional,
        *row.where,
        *(["filters"] if row.filters else []),
        *(["tags"] if row.tags else []),
    ]
    for name in given:
        if name not in known:
            raise CloudError("", f"{token}: {name}: unknown argument; must be one of {', '.join(known) or 'none'}")


def _arguments(row: Lookup) -> list[str]:
    """Names of the arguments that the id is made of."""
    paths = (part for part in parse_template(row.id or "") if isinstance(part, PropertyPath))
    return [str(path.hops[0].steps[0]) for path in paths if not path.hops[0].root]
