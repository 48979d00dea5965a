"""What a resource of the program is in Kubernetes, read from its type: `kubernetes:apps/v1:Deployment`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet_rehearsal.table.paths import Json

RELEASE = "kubernetes:helm.sh/v3:Release"
_TYPE = re.compile(r"kubernetes:(?P<group>[^:/]+)/(?P<version>v\d+(?:(?:alpha|beta)\d+)?):(?P<kind>\w+)")
_COMPONENTS = re.compile(r"kubernetes:(yaml|kustomize|helm\.sh|helm)[:/]")
ONE_BY_ONE = (
    "a rehearsal has no components of the kubernetes provider, which show no children in a first preview anyway; "
    "parse the manifest and register each object by itself, by its class of pulumi_kubernetes (or "
    "apiextensions.CustomResource for a kind that it does not know), and a chart as helm.v3.Release"
)


class ResourceTypeError(UserError):
    """A type that names no kind of Kubernetes; the text is one line."""


@dataclass(frozen=True)
class ResourceType:
    """apiVersion and kind of an object. patch: a `...Patch` resource, which owns fields of an object of others."""

    api_version: str
    kind: str
    patch: bool = False

    @property
    def group(self) -> str:
        """The API group; `core` for the one without a name."""
        return self.api_version.rpartition("/")[0] or "core"

    def __str__(self) -> str:
        return f"{self.api_version}/{self.kind}"


def resource_type_of(type_: str, inputs: Mapping[str, Json]) -> ResourceType:
    """The kind that a resource's type and inputs name. Errors: ResourceTypeError."""
    if _COMPONENTS.match(type_):
        raise ResourceTypeError(f"{type_}: {ONE_BY_ONE}")
    match = _TYPE.fullmatch(type_)
    if match is None:
        raise ResourceTypeError(f"{type_}: must be a Kubernetes type, kubernetes:<group>/<version>:<Kind>")
    group = "" if match["group"] == "core" else f"{match['group']}/"
    api_version, kind = f"{group}{match['version']}", match["kind"]
    given = inputs.get("kind")
    patch = kind.endswith("Patch") and isinstance(given, str) and f"{given}Patch" == kind
    if patch:
        kind = str(given)
    return ResourceType(api_version, kind, patch)
