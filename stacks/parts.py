"""What the parts of every environment have in common: their tags and their names."""

from collections.abc import Mapping
from typing import TypeVar

from gpufleet.node_labels import OBJECT_LABELS, PREFIX, label_value
from settings import SharedSettings

T = TypeVar("T")


def tags(environment: str, settings: SharedSettings) -> dict[str, str]:
    """Tags of every resource: by them `gpufleet adopt` and the bill find an environment's things."""
    own = {"owner": settings.owner, "project": settings.project, "environment": environment}
    end = {"expires-at": settings.expires_at or "never"}
    asked = {key: value for key in ("purpose", "grace") if (value := getattr(settings, key))}
    return settings.tags | own | end | asked


def labels(environment: str, settings: SharedSettings) -> dict[str, str]:
    """Labels of every Kubernetes object of an environment: what `tags` says, of the keys that are set.

    For the objects' own metadata only: in selectors, which cannot be changed, in templates of pods, whose change
    restarts them, and on nodes they have no place. `gpufleet ps` reads them where nothing has tags. A label's value
    has letters, digits and `-_.` only, at most 63: other signs become one -, and what is left empty is left out.
    """
    keys = settings.model_dump() | {"environment": environment}
    said = {key: keys[key.replace("-", "_")] for key in OBJECT_LABELS}
    values = {key: label_value(value) for key, value in said.items() if value}
    return {f"{PREFIX}{key}": value for key, value in values.items() if value}


def named(environment: str, parts: Mapping[str, T]) -> dict[str, T]:
    """The parts of the stack by their logical names."""
    return {f"{environment}-{part}": value for part, value in parts.items()}
