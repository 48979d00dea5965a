"""What the cloud holds and the state does not: after a crash it is listed by name, taken over or deleted.

Every taggable resource carries its logical name (tag `Name`) and its environment (tag `environment`), so an inventory
by tags finds it. A preview says which resources the program would make; one that is there already under that type and
name is imported instead. Things that take no tags (routes, mount targets) are known by what they connect.

Azure makes names of logical names and a random end, and its ids say what a thing lies in: there a thing is known by its
place (`placed.py`).
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gpufleet.engine import Engine
from gpufleet.errors import UserError
from gpufleet.placed import place, same_id


@dataclass(frozen=True)
class Found:
    """A resource that the cloud holds. type: its Pulumi type. import_id: what `pulumi import` takes.

    name: its logical name, None for what takes no tags; then `inputs` (wire names) tell it from others of its type.
    id: as the state would have it, None where only the provider could say. arn: its ARN, None where it has none.
    own: where the cloud knows it by its place, the one of `inputs` that is its own name. tags: that it has.
    quiet: it may be there without anybody's doing, so that it is not worth a word unless the program wants it.
    """

    type: str
    import_id: str
    name: str | None
    id: str | None = None
    inputs: Mapping[str, object] = field(default_factory=dict)
    arn: str | None = None
    own: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    quiet: bool = False

    def __str__(self) -> str:
        name = self.name or (self.inputs[self.own] if self.own else "unnamed")
        return f"{name} ({self.type} {self.import_id})"


class Inventory(Protocol):
    """A look at everything that a cloud holds of one environment."""

    def holds(self, environment: str) -> Sequence[Found]: ...


class AdoptError(UserError):
    """Orphans could not be taken over; the text is the one line for the user."""


@dataclass(frozen=True)
class Orphans:
    """What the state does not hold. wanted: orphan -> URN and parent of the resource that the program would make.

    unknown: orphans that the program has no use for. unclear: orphan -> the resources of the program that it might be;
    where that is one, it might also be another orphan's.
    """

    wanted: tuple[tuple[Found, Mapping[str, Any]], ...] = ()
    unknown: tuple[Found, ...] = ()
    unclear: tuple[tuple[Found, Sequence[Mapping[str, Any]]], ...] = ()


def find_orphans(engine: Engine, stack: str, inventory: Inventory) -> Orphans:
    """Compare cloud, state and program. Changes nothing."""
    state = engine.state(stack)
    lost = [found for found in inventory.holds(stack) if not any(_is(found, resource) for resource in state)]
    if not lost:
        return Orphans()
    steps = [step["newState"] for step in engine.preview(stack) if step["op"] == "create"]
    placed = place((found for found in lost if found.own is not None), steps, state)
    wanted, unknown = placed.wanted, placed.unknown
    for found in (found for found in lost if found.own is None):
        step = next((step for step in steps if _is(found, step)), None)
        if step is None:
            unknown.append(found)
        else:
            wanted.append((found, step))
            # Two things of one name: the program has use for one.
            steps.remove(step)
    return Orphans(tuple(wanted), tuple(found for found in unknown if not found.quiet), tuple(placed.unclear))


def named(resource: Mapping[str, Any]) -> str:
    """The logical name of a resource of the state or of a preview."""
    return str(resource["urn"]).split("::")[-1]


def _is(found: Found, resource: Mapping[str, Any]) -> bool:
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
        return "id" not in resource and named(resource) == found.name
    given = resource.get("inputs", {})
    return all(given.get(name) == value for name, value in found.inputs.items())


def take_over(engine: Engine, stack: str, orphans: Orphans) -> None:
    """Import what the program wants into the state, and clear the operations that the crash cut off.

    Errors: AdoptError when the engine refuses.
    """
    if orphans.wanted:
        parents: dict[str, str] = {}
        resources: list[dict[str, str]] = []
        for found, step in orphans.wanted:
            parent = parents.setdefault(str(step["parent"]), f"parent{len(parents)}")
            resources.append({"type": step["type"], "name": named(step), "id": found.import_id, "parent": parent})
        table = {key: urn for urn, key in parents.items()}
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "import.json"
            file.write_text(json.dumps({"nameTable": table, "resources": resources}))
            options = ("--file", str(file), "--generate-code=false", "--protect=false")
            if engine.operate("import", stack, *options) != 0:
                raise AdoptError(f"{stack}: the engine could not import what was found; its words are above")
    if engine.operate("refresh", stack, "--clear-pending-creates") != 0:
        raise AdoptError(f"{stack}: the engine could not clear interrupted operations; its words are above")


def delete(engine: Engine, stack: str, orphans: Orphans) -> None:
    """Delete what was found: import it, so that the provider knows how, and destroy just that.

    Errors: AdoptError when the engine refuses.
    """
    take_over(engine, stack, orphans)
    found = {(step["type"], named(step)) for _, step in orphans.wanted}
    state = engine.state(stack)
    targets = [r["urn"] for r in state if (r["type"], named(r)) in found]
    options = [f"--target={urn}" for urn in targets]
    if targets and engine.operate("destroy", stack, "--target-dependents", *options) != 0:
        raise AdoptError(f"{stack}: the engine could not delete what was found; its words are above")


def refuse_unclear(stack: str, orphans: Orphans) -> None:
    """Errors: AdoptError with a line for each resource of the program that several orphans might be, and the reverse.

    `up` would make it once more; which of them holds the data that counts is for a person to say.
    """
    might: dict[str, list[Found]] = {}
    lines: list[str] = []
    for found, steps in orphans.unclear:
        if len(steps) > 1:
            names = ", ".join(map(named, steps))
            lines.append(
                f"{found.import_id} may be more than one of the program: {names}; `pulumi import` it as what it is"
            )
        else:
            might.setdefault(f"{named(steps[0])} ({found.type})", []).append(found)
    for resource, several in might.items():
        ids = ", ".join(found.import_id for found in several)
        lines.append(f"{resource}: may be any of {ids}; delete what is not, or `pulumi import` what is")
    if lines:
        raise AdoptError("\n".join(f"{stack}: {line}" for line in lines))


def unlock(engine: Engine, stack: str) -> None:
    """Remove the lock of an engine that has died. Errors: gpufleet.engine.EngineError."""
    engine.answer("cancel", "--yes", "--stack", stack)
