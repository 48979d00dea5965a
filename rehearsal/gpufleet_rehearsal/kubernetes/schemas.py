"""Objects checked by JSON schemas: of Kubernetes' own kinds (`kubernetes-validate`), and of CustomResourceDefinitions.

Only for where no API server can check: it knows more than any schema. Values that are not known yet pass.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.change import has_unknown
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType

if TYPE_CHECKING:
    from jsonschema import ValidationError  # type: ignore[import-untyped]  # ships no types

VERSION = "1.34.0"
"""Of Kubernetes: that of the control plane in tools/kubernetes."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_FILE = "https://kubernetes.io/api/_definitions.json"

Problem = tuple[str, str]
"""Path (`spec.replicas`, empty for the object itself) and what is wrong there, without the value of anything secret."""


class SchemasMissing(UserError):
    """The package with the schemas is not installed."""


class Schemas:
    """What kinds look like. Knows Kubernetes' own; learns others from their definitions."""

    def __init__(self) -> None:
        self._learnt: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._cluster_wide: set[tuple[str, str]] = set()

    def learn(self, definition: Mapping[str, Any]) -> None:
        """Take note of a CustomResourceDefinition's kinds; what is not known of it yet is left out."""
        spec = definition.get("spec")
        if not isinstance(spec, Mapping) or not isinstance(spec.get("names"), Mapping):
            return
        for version in spec.get("versions") or []:
            schema = version.get("schema") if isinstance(version, Mapping) else None
            if isinstance(schema, Mapping) and isinstance(schema.get("openAPIV3Schema"), Mapping):
                key = (f"{spec.get('group')}/{version.get('name')}", str(spec["names"].get("kind")))
                self._learnt[key] = cast("Mapping[str, Any]", _closed(schema["openAPIV3Schema"], top=True))
                if spec.get("scope") == "Cluster":
                    self._cluster_wide.add(key)

    def knows(self, kind: ResourceType) -> bool:
        """Whether there is a schema for the kind. Errors: SchemasMissing."""
        return (kind.api_version, kind.kind) in self._learnt or (kind.api_version, kind.kind) in builtin_kinds()

    def cluster_wide(self, kind: ResourceType) -> bool:
        """Whether the kind's definition says that its objects lie in no namespace."""
        return (kind.api_version, kind.kind) in self._cluster_wide

    def problems(self, kind: ResourceType, document: Mapping[str, Any]) -> list[Problem]:
        """What is wrong with an object; nothing for kinds without a schema. Errors: SchemasMissing."""
        return [*_naming(document), *self._by_schema(kind, document)]

    def _by_schema(self, kind: ResourceType, document: Mapping[str, Any]) -> Iterator[Problem]:
        from jsonschema import Draft202012Validator
        from referencing import Registry, Resource

        schema = self._learnt.get((kind.api_version, kind.kind))
        if schema is None:
            name = builtin_kinds().get((kind.api_version, kind.kind))
            if name is None:
                return
            schema = {"$ref": f"{_FILE}#/$defs/{name}"}
        registry: Any = Resource.from_contents(_definitions()) @ Registry()
        secret = kind.kind == "Secret"
        for error in Draft202012Validator(schema, registry=registry).iter_errors(document):
            told = _told(error, secret)
            if told is not None:
                yield _path(error.absolute_path), told


def _told(error: ValidationError, secret: bool) -> str | None:
    """One line on one error; None when what it is about is not known yet."""
    match error.validator:
        case "required":
            missing = [key for key in error.validator_value if key not in error.instance]
            return f"{', '.join(missing)} is missing"
        case "additionalProperties":
            known = error.schema.get("properties") or {}
            extra = sorted(set(error.instance) - set(known))
            return f"unknown field {', '.join(extra)}; legal are: {', '.join(sorted(known))}"
        case _ if has_unknown(error.instance):
            return None
        case "type":
            wanted = error.validator_value
            words = [wanted] if isinstance(wanted, str) else [word for word in wanted if word != "null"]
            return f"{_shown(error.instance, secret)} is not of type {' or '.join(words)}"
        case "enum":
            legal = ", ".join(map(str, error.validator_value))
            return f"{_shown(error.instance, secret)} is not legal; legal are: {legal}"
        case word:
            return f"{_shown(error.instance, secret)} does not fit {word} {error.validator_value!r}"


def _shown(value: object, secret: bool) -> str:
    text = json.dumps(value)
    return "the value" if secret or len(text) > 60 else text


def _naming(document: Mapping[str, Any]) -> Iterator[Problem]:
    metadata = document.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    # RBAC allows more (system:node), and is the only one.
    if not isinstance(name, str) or has_unknown(name) or str(document.get("apiVersion")).startswith("rbac."):
        return
    if len(name) > 253 or not _NAME.fullmatch(name):
        yield "metadata.name", f"{name!r} must be at most 253 lower-case letters, digits, - and ."


def _path(parts: Sequence[str | int]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _closed(schema: object, *, top: bool = False) -> object:
    """A definition's schema as the API server applies it: a field that it does not name is rejected."""
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        return [_closed(inner) for inner in schema]
    if not isinstance(schema, Mapping):
        return schema
    found: dict[str, Any] = {
        key: value for key, value in schema.items() if key not in ("default", "example", "format", "description")
    }
    for key in ("items", "additionalProperties"):
        if key in found:
            found[key] = _closed(found[key])
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: _closed(inner) for name, inner in found["properties"].items()}
        if top:
            found["properties"] = {"apiVersion": {}, "kind": {}, **found["properties"], "metadata": {}, "status": {}}
        open_ended = found.get("x-kubernetes-preserve-unknown-fields") or found.get("x-kubernetes-embedded-resource")
        if "additionalProperties" not in found and not open_ended:
            found["additionalProperties"] = False
    return found


@cache
def _definitions() -> dict[str, Any]:
    found = importlib.util.find_spec("kubernetes_validate")
    if found is None or not found.submodule_search_locations:
        raise SchemasMissing("kubernetes-validate is not installed, and no control plane runs: nothing can be checked")
    folder = Path(found.submodule_search_locations[0]) / "kubernetes-json-schema" / f"v{VERSION}-local-strict"
    found_in: dict[str, Any] = json.loads((folder / "_definitions.json").read_text())
    return found_in


@cache
def builtin_kinds() -> Mapping[tuple[str, str], str]:
    """Definitions by apiVersion and kind."""
    kinds: dict[tuple[str, str], str] = {}
    for name, schema in _definitions()["$defs"].items():
        for entry in schema.get("x-kubernetes-group-version-kind") or []:
            # DeleteOptions and the like belong to every group.
            if "metadata" in (schema.get("properties") or {}):
                group = f"{entry['group']}/" if entry["group"] else ""
                kinds[f"{group}{entry['version']}", entry["kind"]] = name
    return kinds


def top_level_properties(name: str) -> list[str]:
    """The properties of one definition of `builtin_kinds`, sorted."""
    return sorted(_definitions()["$defs"][name].get("properties") or {})
