"""The state of a stack in a backend."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from gpufleet.errors import UserError
from gpufleet.rules.messages import one_line
from gpufleet.urn import stack_of_urn

if TYPE_CHECKING:
    from gpufleet.fleet.stack_lock import StackLock

T = TypeVar("T")

ROOT = "pulumi:pulumi:Stack"
"""Type of the root of a state, which the engine makes by itself, and which is the parent of what names none."""


@dataclass(frozen=True)
class StackState:
    """One stack of a backend.

    project: empty where the backend does not know it. resources: as the engine keeps them, secrets encrypted, without
    what is only waiting to be deleted. written: when its state was last written. updating: whether somebody works on
    it. config: of its last update, empty where the backend does not keep it. fault: why its state cannot be read.
    """

    name: str
    project: str = ""
    resources: Sequence[Mapping[str, Any]] = ()
    written: datetime | None = None
    updating: bool = False
    config: Mapping[str, object] = field(default_factory=dict)
    fault: str = ""
    leftovers: int = 0
    """Resources that an update has replaced and not deleted yet: in no figure."""
    full_name: str = ""
    """Its name for the engine, in any folder."""
    lock: "StackLock | None" = None
    """Who works on it, where the backend tells."""


def state_from_deployment(
    name: str, project: str, deployment: object, config: Mapping[str, object], updating: bool
) -> StackState:
    """The stack in a deployment: what `pulumi stack export` calls by that name, and a checkpoint `latest`.

    None is a stack that was made and never brought up. Errors: ValueError for an invalid deployment.
    """
    if deployment is None:
        return StackState(name, project, updating=updating, config=config)
    if not isinstance(deployment, Mapping):
        raise ValueError("holds no deployment")
    resources = deployment.get("resources") or []
    if not isinstance(resources, list) or not all(isinstance(each, Mapping) and "urn" in each for each in resources):
        raise ValueError("resources must be a list of resources")
    manifest = deployment.get("manifest")
    written = parse_time(manifest.get("time")) if isinstance(manifest, Mapping) else None
    there = [each for each in resources if not each.get("delete")]
    # The old layout of a file backend does not tell the project, but each URN does.
    project = project or (stack_of_urn(str(there[0]["urn"]))[0] if there else "")
    return StackState(name, project, there, written, updating, config, leftovers=len(resources) - len(there))


def stack_outputs(resources: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The outputs of a stack, which are its root's in the state."""
    root = next((each for each in resources if each["type"] == ROOT), {})
    found: Mapping[str, Any] = root.get("outputs") or {}
    return found


def parse_time(text: object) -> datetime | None:
    """A time as the engine writes it, to the nanosecond; None for anything else, such as the engine's year 1."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None and found.year > 1 else None


def or_fault(read: Callable[[], T], fault: Callable[[str], T]) -> T:
    """What `read` makes of one stack's state, or what `fault` makes of the reason why it cannot.

    The one place where any error is caught: a state is a file that anybody may have written, and one that is malformed
    in a way that nobody has thought of must not hide the others. The reason names the error and its place in our code,
    so that our own mistake is seen as one.
    """
    try:
        return read()
    except UserError as error:
        return fault(str(error))
    except OSError as error:
        return fault(error.strerror or str(error))
    except ValueError as error:
        return fault(one_line(str(error)))
    except Exception as error:  # noqa: BLE001 - see above
        last = traceback.extract_tb(error.__traceback__)[-1]
        return fault(one_line(f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"))
