"""A change of a configuration as a mapping of what is different, like a JSON merge patch (RFC 7396)."""

from collections.abc import Mapping
from typing import Any


def merge(config: dict[str, Any], change: Mapping[str, Any]) -> None:
    """Set the keys of a change, those inside of mappings too; null takes a key away."""
    for key, value in change.items():
        if value is None:
            config.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(config.get(key), dict):
            merge(config[key], value)
        else:
            config[key] = value
