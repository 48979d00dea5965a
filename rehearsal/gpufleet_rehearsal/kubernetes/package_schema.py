"""The package schema of the simulated provider: as much as `pulumi import` needs to write code."""

from __future__ import annotations

from typing import Any

from gpufleet_rehearsal.kubernetes.resource_type import RELEASE
from gpufleet_rehearsal.kubernetes.schemas import builtin_kinds, top_level_properties
from gpufleet_rehearsal.kubernetes.word_lists import word_list

ANY = {"$ref": "pulumi.json#/Any"}


def package_schema(version: str) -> dict[str, Any]:
    """Every kind of Kubernetes itself with its top-level properties, what is in them without its shape."""
    resources: dict[str, Any] = {RELEASE: _resource(sorted(word_list("release_arguments")))}
    for (api_version, kind), name in builtin_kinds().items():
        group_version = api_version if "/" in api_version else f"core/{api_version}"
        resources[f"kubernetes:{group_version}:{kind}"] = _resource(top_level_properties(name))
    return {"name": "kubernetes", "version": version or "0.0.0", "resources": resources}


def _resource(names: list[str]) -> dict[str, Any]:
    properties = {name: {"type": "string"} if name in ("apiVersion", "kind") else ANY for name in names}
    return {"properties": properties, "inputProperties": properties}
