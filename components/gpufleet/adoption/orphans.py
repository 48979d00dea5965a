"""Cloud resources missing in the state, and which of them the program declares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpufleet.adoption.cloud_resource import CloudResource, Inventory
from gpufleet.adoption.match_by_parent import match_by_parent, same_id
from gpufleet.errors import UserError
from gpufleet.pulumi_cli import PulumiCli


class AdoptError(UserError):
    """Orphans could not be imported; the text is one line for the user."""


@dataclass(frozen=True)
class Orphans:
    """Resources missing in the state. wanted: orphan -> URN and parent of the resource that the program declares.

    unknown: orphans that the program does not declare. ambiguous: orphan -> the program's resources that it might be;
    if that is only one, it might also be another orphan's.
    """

    wanted: tuple[tuple[CloudResource, Mapping[str, Any]], ...] = ()
    unknown: tuple[CloudResource, ...] = ()
    ambiguous: tuple[tuple[CloudResource, Sequence[Mapping[str, Any]]], ...] = ()


def find_orphans(engine: PulumiCli, stack: str, inventory: Inventory) -> Orphans:
    """Compare cloud, state and program. Changes nothing."""
    state = engine.state(stack)
    lost = [found for found in inventory.holds(stack) if not any(_is(found, resource) for resource in state)]
    if not lost:
        return Orphans()
    steps = [step["newState"] for step in engine.preview(stack) if step["op"] == "create"]
    placed = match_by_parent((found for found in lost if found.own is not None), steps, state)
    wanted, unknown = placed.wanted, placed.unknown
    for found in (found for found in lost if found.own is None):
        step = next((step for step in steps if _is(found, step)), None)
        if step is None:
            unknown.append(found)
        else:
            wanted.append((found, step))
            # Two things of one name: the program has use for one.
            steps.remove(step)
    return Orphans(tuple(wanted), tuple(found for found in unknown if not found.quiet), tuple(placed.ambiguous))


def logical_name(resource: Mapping[str, Any]) -> str:
    """The logical name of a resource of the state or of a preview."""
    return str(resource["urn"]).split("::")[-1]


def _is(found: CloudResource, resource: Mapping[str, Any]) -> bool:
    """Whether a resource of the state, or one that a preview would make, is the one found."""
    if found.arn is not None and resource.get("outputs", {}).get("arn") == found.arn:
        # Whatever type the inventory takes it for.
        return True
    if found.import_id.startswith("/subscriptions/"):
        # Azure's ids are unique over all types.
        return same_id(str(resource.get("id")), found.import_id)
    if resource["type"] != found.type:
        return False
    if found.id is not None and "id" in resource:
        # A resource with an id is known by it alone: two of one name are two.
        return bool(resource["id"] == found.id)
    if found.name is not None:
        return "id" not in resource and logical_name(resource) == found.name
    given = resource.get("inputs", {})
    return all(given.get(name) == value for name, value in found.inputs.items())


def reject_ambiguous(stack: str, orphans: Orphans) -> None:
    """Errors: AdoptError with a line for each resource of the program that several orphans might be, and the reverse.

    `up` would make it once more; which of them holds the data that counts is for a person to say.
    """
    might: dict[str, list[CloudResource]] = {}
    lines: list[str] = []
    for found, steps in orphans.ambiguous:
        if len(steps) > 1:
            names = ", ".join(map(logical_name, steps))
            lines.append(
                f"{found.import_id} may be more than one of the program: {names}; `pulumi import` it as what it is"
            )
        else:
            might.setdefault(f"{logical_name(steps[0])} ({found.type})", []).append(found)
    for resource, several in might.items():
        ids = ", ".join(found.import_id for found in several)
        lines.append(f"{resource}: may be any of {ids}; delete what is not, or `pulumi import` what is")
    if lines:
        raise AdoptError("\n".join(f"{stack}: {line}" for line in lines))
