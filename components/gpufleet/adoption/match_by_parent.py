"""Match cloud resources to a preview's steps by parent and name, for clouds such as Azure whose ids are paths.

The place is inputs of the step: what the thing lies in, and its own name. Own names are mostly logical names with a
random end, which a new preview draws anew; so the beginning is compared, and never one of two guessed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.azure.naming import RANDOM
from gpufleet.plan.azure.graph import azure_type

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What a preview has for a value that is known only later (UnknownStringValue of Pulumi, sdk/go/common/resource)."""
OWNER_TAGS = ("environment", "project")
"""Tags that distinguish resources of other projects with the same names."""


@dataclass
class ParentMatch:
    """Resources matched by parent. wanted: with the step that would create each. unknown: no step would.

    ambiguous: with the candidate steps, if there are several, or if several resources match one step.
    """

    wanted: list[tuple[CloudResource, Mapping[str, Any]]] = field(default_factory=list)
    ambiguous: list[tuple[CloudResource, Sequence[Mapping[str, Any]]]] = field(default_factory=list)
    unknown: list[CloudResource] = field(default_factory=list)


def match_by_parent(
    lost: Iterable[CloudResource], steps: Sequence[Mapping[str, Any]], state: Iterable[Mapping[str, Any]]
) -> ParentMatch:
    """Match resources by parent. steps: what the program would create. state: the stack's resources."""
    ids = {str(each["urn"]): str(each["id"]) for each in state if each.get("id")}
    placed = ParentMatch()
    # What a thing lies in comes before it, and is then known.
    for _, level in groupby(sorted(lost, key=_depth), _depth):
        fitting = [(found, [step for step in steps if _fits(found, step, ids)]) for found in level]
        claims = [str(step["urn"]) for _, fit in fitting for step in fit]
        for found, fit in fitting:
            if len(fit) == 1 and claims.count(str(fit[0]["urn"])) == 1:
                placed.wanted.append((found, fit[0]))
                ids[str(fit[0]["urn"])] = found.import_id
            elif fit:
                placed.ambiguous.append((found, fit))
            elif not any(_lies_in(found.import_id, above.import_id) for above, _ in placed.ambiguous):
                placed.unknown.append(found)
    return placed


def same_id(one: str, other: str) -> bool:
    """Whether two ids are one thing's: those of Azure's resource manager without regard to case, others exactly."""
    return _folded(one) == _folded(other)


def _folded(id_: str) -> str:
    return id_.lower() if id_.lower().startswith("/subscriptions/") else id_


def _lies_in(id_: str, above: str) -> bool:
    return _folded(id_).startswith(f"{_folded(above)}/")


def _depth(found: CloudResource) -> int:
    return found.import_id.count("/")


def _fits(found: CloudResource, step: Mapping[str, Any], ids: Mapping[str, str]) -> bool:
    """Whether a step would make the thing. ids: URN -> id of everything known so far."""
    if found.own is None or not _same_type(found.type, step["type"]) or not _same_owner(found, step):
        return False
    given = step.get("inputs") or {}
    around = (name for name in found.inputs if name != found.own)
    return _called(found, step) and all(
        _above(found, name, step, ids) if given.get(name) == UNKNOWN else _equal(given.get(name), found.inputs[name])
        for name in around
    )


def _same_type(one: str, other: str) -> bool:
    """Whether two tokens are one type's; a program may name a version of Azure's interfaces in its own."""
    kind = azure_type(other)
    return one == other or (kind is not None and one == f"azure-native:{kind.kind}")


def _equal(given: object, value: object) -> bool:
    return isinstance(given, str) and given.lower() == str(value).lower()


def _called(found: CloudResource, step: Mapping[str, Any]) -> bool:
    """Whether its own name is the step's, or both are the step's logical name with random ends."""
    given, name = (step.get("inputs") or {}).get(found.own), found.inputs[str(found.own)]
    logical = str(step["urn"]).split("::")[-1]
    drawn = re.compile(f"{re.escape(logical)}[0-9a-f]{{{RANDOM}}}", re.IGNORECASE)
    both = isinstance(given, str) and drawn.fullmatch(given) and drawn.fullmatch(str(name))
    return _equal(given, name) or bool(both)


def _above(found: CloudResource, name: str, step: Mapping[str, Any], ids: Mapping[str, str]) -> bool:
    """Whether an input that is not known yet comes from the very thing that the found one lies in."""
    value = str(found.inputs[name])
    sources = (step.get("propertyDependencies") or {}).get(name) or ()
    known = (ids[source] for source in sources if source in ids)
    return any(_lies_in(found.import_id, id_) and (value.lower() in _ends(id_)) for id_ in known)


def _ends(id_: str) -> tuple[str, str]:
    """The name at the end of an id, and all of it, which is a scope."""
    return id_.lower().rpartition("/")[2], id_.lower()


def _same_owner(found: CloudResource, step: Mapping[str, Any]) -> bool:
    """Whether the tags do not contradict. What takes none is known by what it lies in."""
    given = (step.get("inputs") or {}).get("tags")
    if not found.tags or not isinstance(given, Mapping):
        return True
    return all(given.get(tag) in (None, UNKNOWN, found.tags.get(tag)) for tag in OWNER_TAGS)
