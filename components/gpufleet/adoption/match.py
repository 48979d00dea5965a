"""Match cloud resources to the steps of a preview that would create them.

What takes tags on AWS has its logical name in one. Everything else is known by its place: inputs of the step, which
name what it hangs on, and mostly its own name. Own names are mostly logical names with a random end, which a new
preview draws again; so the beginning is compared. An input that is not known yet comes from a resource that is matched
before. One of two is never guessed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.azure.naming import RANDOM
from gpufleet.ownership import Ownership
from gpufleet.plan.azure.graph import azure_type

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What a preview has for a value that is known only later (UnknownStringValue of Pulumi, sdk/go/common/resource)."""
_DRAWN = re.compile(f"(.+)-[0-9a-f]{{7}}|(.+)[0-9a-f]{{{RANDOM}}}", re.IGNORECASE)
"""A name with the random end of the AWS provider, or of Azure's."""

Step = Mapping[str, Any]


@dataclass
class OrphanMatches:
    """Matched resources. wanted: with the step that would create each. unknown: no step would.

    ambiguous: with the candidate steps, if there are several, or if several resources match one step.
    """

    wanted: list[tuple[CloudResource, Step]] = field(default_factory=list)
    ambiguous: list[tuple[CloudResource, Sequence[Step]]] = field(default_factory=list)
    unknown: list[CloudResource] = field(default_factory=list)


def match(lost: Iterable[CloudResource], steps: Sequence[Step], state: Iterable[Mapping[str, Any]]) -> OrphanMatches:
    """Match resources to steps. steps: what the program would create. state: the stack's resources."""
    ids = {str(each["urn"]): str(each["id"]) for each in state if each.get("id")}
    matched, left = OrphanMatches(), list(lost)
    # What a resource hangs on is matched before it: each round knows more ids.
    while True:
        fitting = [
            (found, [step for step in steps if step["urn"] not in ids and _fits(found, step, ids)]) for found in left
        ]
        claims = [str(step["urn"]) for _, fit in fitting for step in fit]
        sure = [(found, fit[0]) for found, fit in fitting if len(fit) == 1 and claims.count(str(fit[0]["urn"])) == 1]
        if not sure:
            break
        matched.wanted += sure
        ids |= {str(step["urn"]): found.id or found.import_id for found, step in sure}
        left = [found for found in left if not any(found is each for each, _ in sure)]
    matched.ambiguous = [(found, fit) for found, fit in fitting if fit]
    unclear = [found.import_id for found, _ in matched.ambiguous]
    matched.unknown = [
        found for found, fit in fitting if not fit and not any(_lies_in(found.import_id, above) for above in unclear)
    ]
    return matched


def logical_name(resource: Mapping[str, Any]) -> str:
    """The logical name of a resource of the state or of a preview."""
    return str(resource["urn"]).split("::")[-1]


def same_id(one: str, other: str) -> bool:
    """Whether two ids are one thing's: those of Azure's resource manager without regard to case, others exactly."""
    return _folded(one) == _folded(other)


def _folded(id_: str) -> str:
    return id_.lower() if is_azure_id(id_) else id_


def is_azure_id(id_: str) -> bool:
    """Whether an id is one of Azure's resource manager: unique over all types, and below what it lies in."""
    return id_.lower().startswith("/subscriptions/")


def _lies_in(id_: str, above: str) -> bool:
    return _folded(id_).startswith(f"{_folded(above)}/")


def _fits(found: CloudResource, step: Step, ids: Mapping[str, str]) -> bool:
    """Whether a step would make the thing. ids: URN -> id of everything known so far."""
    if not _same_type(found.type, step["type"]) or not _same_owner(found, step):
        return False
    if found.name is not None:
        return logical_name(step) == found.name
    given = step.get("inputs") or {}
    around = [name for name in found.inputs if name != found.own]
    return (found.own is None or _called(found, step)) and all(
        _equal(given.get(name), found.inputs[name]) or _above(found, name, step, ids) for name in around
    )


def _same_type(one: str, other: str) -> bool:
    """Whether two tokens are one type's; a program may name a version of Azure's interfaces in its own."""
    kind = azure_type(other)
    return one == other or (kind is not None and one == f"azure-native:{kind.kind}")


def _same_owner(found: CloudResource, step: Step) -> bool:
    """Whether the step's tags, where it takes any and they are known, are of the very same owner."""
    tags = (step.get("inputs") or {}).get("tags")
    return not isinstance(tags, Mapping) or Ownership.of_tags(tags).owns(found.ownership)


def _equal(given: object, value: object) -> bool:
    return isinstance(given, str) and given.lower() == str(value).lower()


def _called(found: CloudResource, step: Step) -> bool:
    """Whether its own name is the step's, or both are the step's logical name with random ends."""
    given, name = (step.get("inputs") or {}).get(found.own), str(found.inputs[str(found.own)])
    stem = _stem(given, step["urn"])
    return _equal(given, name) or (stem is not None and stem == _stem(name, step["urn"]))


def _stem(name: object, urn: str) -> str | None:
    """What a name has of a URN's logical name, which may be cut, before a random end. None: it is another name."""
    drawn = _DRAWN.fullmatch(name) if isinstance(name, str) else None
    stem = (drawn[1] or drawn[2]).lower() if drawn else None
    return stem if stem and urn.split("::")[-1].lower().startswith(stem) else None


def _above(found: CloudResource, name: str, step: Step, ids: Mapping[str, str]) -> bool:
    """Whether an input comes from the very thing that the found one hangs on or lies in.

    In a preview it is unknown then, or a name with a random end that is not the thing's.
    """
    value, given = str(found.inputs[name]), (step.get("inputs") or {}).get(name)
    sources = (step.get("propertyDependencies") or {}).get(name) or ()
    known = [ids[source] for source in sources if source in ids and (given == UNKNOWN or _stem(given, source))]
    if is_azure_id(found.import_id):
        return any(_lies_in(found.import_id, id_) and value.lower() in _ends(id_) for id_ in known)
    return value in known


def _ends(id_: str) -> tuple[str, str]:
    """The name at the end of an id, and all of it, which is a scope."""
    return id_.lower().rpartition("/")[2], id_.lower()
