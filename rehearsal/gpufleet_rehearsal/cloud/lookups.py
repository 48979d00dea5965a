"""Invokes that a simulated provider answers: what a resource that is there tells on request (keys, credentials)."""

from __future__ import annotations

from collections.abc import Mapping

from gpufleet_rehearsal.cloud.checks import CloudError, error_text
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.scope import ResourceRequest
from gpufleet_rehearsal.table.cloud_rows import Lookup
from gpufleet_rehearsal.table.paths import Json, PropertyPath, Scope
from gpufleet_rehearsal.table.templates import fill, parse_template


def answer_invoke(cloud: Cloud, token: str, arguments: Mapping[str, Json]) -> Mapping[str, Json]:
    """The answer to an invoke; the engine asks none whose arguments are not known yet.

    Errors: CloudError in the provider's words for wrong arguments and for a resource that is not there, and in the
    rehearsal's for look-ups that are not in the table.
    """
    row = cloud.table.lookups.get(token)
    if row is None:
        raise CloudError(
            "",
            f"{token}: look-ups are not simulated by the rehearsal; pass what it would find by config, so that "
            "a preview needs no cloud either",
        )
    wanted = _arguments(row)
    for name in wanted:
        if not isinstance(arguments.get(name), str):
            raise CloudError("", f"{token}: {name}: missing, but required")
    for name in arguments:
        if name not in (*wanted, *row.optional):
            known = ", ".join((*wanted, *row.optional))
            raise CloudError("", f"{token}: {name}: unknown argument; must be one of {known}")
    asked = Scope(ResourceRequest(row.type, token, "", arguments), cloud.view)
    id_ = str(fill(row.id, asked))
    found = [each for each in cloud.store.find(id_, [row.type]) if cloud.status(each) == "available"]
    if not found:
        raise CloudError(row.missing.code, error_text(row.missing.text, asked))
    answer = fill(dict(row.answer), Scope(found[0], cloud.view), token)
    return answer if isinstance(answer, Mapping) else {}


def _arguments(row: Lookup) -> list[str]:
    """Names of the arguments that the id is made of."""
    paths = (part for part in parse_template(row.id) if isinstance(part, PropertyPath))
    return [str(path.hops[0].steps[0]) for path in paths if not path.hops[0].root]
