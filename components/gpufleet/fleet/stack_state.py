"""The state of a stack in a backend."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


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
    return StackState(name, project, there, written, updating, config, leftovers=len(resources) - len(there))


def parse_time(text: object) -> datetime | None:
    """A time as the engine writes it, to the nanosecond; None for anything else, such as the engine's year 1."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None and found.year > 1 else None
