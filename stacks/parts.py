"""What the parts of every environment have in common: their tags and their names."""

from collections.abc import Mapping
from typing import TypeVar

from settings import SharedSettings

T = TypeVar("T")


def tags(environment: str, settings: SharedSettings) -> dict[str, str]:
    """Tags of every resource: by them `gpufleet adopt` and the bill find an environment's things."""
    expires = settings.expires_at.isoformat() if settings.expires_at else "never"
    own = {"owner": settings.owner, "project": settings.project, "environment": environment, "expires-at": expires}
    return settings.tags | own


def named(environment: str, parts: Mapping[str, T]) -> dict[str, T]:
    """The parts of the stack by their logical names."""
    return {f"{environment}-{part}": value for part, value in parts.items()}
