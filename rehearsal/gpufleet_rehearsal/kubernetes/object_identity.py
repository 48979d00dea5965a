"""The object that a resource stands for: its name, its id, what the state keeps of it."""

from __future__ import annotations

import hashlib
import random
import string
from collections.abc import Mapping, Sequence
from typing import Any, cast

from gpufleet_rehearsal.cloud.change import UNKNOWN, has_unknown
from gpufleet_rehearsal.kubernetes.api import Object
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType
from gpufleet_rehearsal.table.paths import Json

AUTONAMED = "pulumi.com/autonamed"
MANAGER = "__fieldManager"
"""Where the state keeps the field manager, as the real provider does."""
FIRST_VERSION = "__initialApiVersion"
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}
"""What marks a value on the wire as a secret."""
SERVER_SET = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid")
"""Keys of metadata that the API server sets, and that nobody gives."""
SYSTEM_ANNOTATIONS = ("deployment.kubernetes.io/revision", "kubectl.kubernetes.io/last-applied-configuration")
_SUFFIX = string.ascii_lowercase + string.digits


def document_of(kind: ResourceType, inputs: Mapping[str, Json]) -> Object:
    """The object that inputs say, apiVersion and kind filled in. Keys that SDKs spell with _ get their dashes back."""
    given = cast("Object", _dashed({key: value for key, value in inputs.items() if not key.startswith("__")}))
    return {"apiVersion": kind.api_version, "kind": kind.kind} | given


def _dashed(value: Json) -> Json:
    """`x_kubernetes_int_or_string` is how SDKs spell `x-kubernetes-int-or-string` in CustomResourceDefinitions."""
    if isinstance(value, Mapping):
        return {
            key.replace("_", "-") if key.startswith("x_kubernetes_") else key: _dashed(inner)
            for key, inner in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_dashed(inner) for inner in value]
    return value


def metadata(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """`metadata`; empty when there is none, or when it is not known yet."""
    found = document.get("metadata")
    return found if isinstance(found, Mapping) else {}


def annotation(document: Mapping[str, Any], key: str) -> str | None:
    """One annotation; None when it is not there or not known yet."""
    annotations = metadata(document).get("annotations")
    value = annotations.get(key) if isinstance(annotations, Mapping) else None
    return None if value is None or has_unknown(value) else str(value)


def says(document: Mapping[str, Any], key: str) -> bool:
    """Whether an annotation is "true"."""
    return (annotation(document, key) or "").lower() == "true"


def name_of(document: Mapping[str, Any]) -> str:
    """`metadata.name`; empty when there is none."""
    return str(metadata(document).get("name") or "")


def namespace_of(document: Mapping[str, Any], default: str = "default") -> str:
    """`metadata.namespace`, or where objects go that name none."""
    return str(metadata(document).get("namespace") or default)


def named(document: Object, old: Mapping[str, Json], logical_name: str, seed: bytes) -> Object:
    """The object with a name: its own, that which it was given before, or `<logical name>-<8 letters>`."""
    if document.get("metadata") is not None and not isinstance(document["metadata"], Mapping):
        return document
    if metadata(document).get("name"):
        return document
    before = name_of(cast("Object", old)) if says(cast("Object", old), AUTONAMED) else ""
    drawn = random.Random(seed or None)
    name = before or f"{logical_name}-{''.join(drawn.choice(_SUFFIX) for _ in range(8))}"
    annotations = metadata(document).get("annotations")
    marked = {**(annotations if isinstance(annotations, Mapping) else {}), AUTONAMED: "true"}
    return document | {"metadata": {**metadata(document), "name": name, "annotations": marked}}


def id_of(document: Mapping[str, Any], *, namespaced: bool, default: str = "default") -> str:
    """`namespace/name`, or the name alone of what lies in no namespace."""
    name = name_of(document)
    return f"{namespace_of(document, default)}/{name}" if namespaced else name


def split_id(id_: str) -> tuple[str, str]:
    """Namespace (empty when there is none) and name of an id."""
    namespace, _, name = id_.rpartition("/")
    return namespace, name


def field_manager(urn: str, old: Mapping[str, Json], document: Mapping[str, Any]) -> str:
    """Who owns the fields: the annotation's word, the state's, else one made from the URN.

    The real provider draws one at random. From the URN, a create whose answer was lost finds its own fields again.
    """
    kept = old.get(MANAGER)
    made = f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"
    return annotation(document, "pulumi.com/patchFieldManager") or (kept if isinstance(kept, str) else made)


def outputs_of(live: Mapping[str, Any], manager: str) -> dict[str, Json]:
    """What the state keeps of an object: all but managedFields, which would double its size."""
    kept: dict[str, Json] = {
        **live,
        "metadata": {key: value for key, value in metadata(live).items() if key != "managedFields"},
        MANAGER: manager,
        FIRST_VERSION: str(live.get("apiVersion", "")),
    }
    if live.get("kind") == "Secret" and live.get("apiVersion") == "v1":
        kept |= {key: {**SECRET, "value": kept[key]} for key in ("data", "stringData") if key in kept}
    return kept


def foreseen(live: Mapping[str, Any], manager: str, *, new: bool) -> dict[str, Json]:
    """The same of a preview's answer: what the API server will only say when it is done is unknown."""
    found = outputs_of({key: value for key, value in live.items() if key != "status"}, manager)
    later = dict.fromkeys(("uid", "creationTimestamp"), UNKNOWN) if new else {}
    found["metadata"] = {**metadata(found), **later, "resourceVersion": UNKNOWN}
    found["status"] = UNKNOWN
    return found


def inputs_of(live: Mapping[str, Any]) -> dict[str, Json]:
    """The inputs that would make an object that nobody's program has made yet: for an import."""
    kept = {key: value for key, value in live.items() if key != "status"}
    about = {key: value for key, value in metadata(live).items() if key not in SERVER_SET}
    if isinstance(about.get("annotations"), Mapping):
        about["annotations"] = {k: v for k, v in about["annotations"].items() if k not in SYSTEM_ANNOTATIONS}
    if live.get("kind") == "Namespace":
        # Every namespace has these; no program gives them.
        kept.pop("spec", None)
        own = {k: v for k, v in (about.get("labels") or {}).items() if k != "kubernetes.io/metadata.name"}
        about["labels"] = own
    return kept | {"metadata": {key: value for key, value in about.items() if value not in ({}, [])}}


def drifted(inputs: Json, before: Json, now: Json) -> Json:
    """Inputs as a refresh finds them: what changed between two looks at the object, the rest as the program said it.

    Comparing the object with itself, and not with the inputs, leaves out what the API server only writes otherwise
    (1024Mi as 1Gi).
    """
    if isinstance(inputs, Mapping):
        if not isinstance(now, Mapping):
            return inputs if before == now else now
        past = before if isinstance(before, Mapping) else {}
        return {
            key: drifted(value, past.get(key), now.get(key))
            for key, value in inputs.items()
            if key in now or key not in past
        }
    return inputs if before == now else now
