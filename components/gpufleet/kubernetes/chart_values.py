"""The values of a Helm chart, as helm merges them."""

from collections.abc import Mapping
from typing import Any


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`under`, with what `over` says instead, mapping by mapping."""
    result = dict(under)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result
