"""What a rehearsal only notes down: releases (there is no helm), and objects where no control plane takes them.

A separate store in the rehearsal's directory, `kubernetes.db`, so that it cannot be taken for the simulated cloud.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from pathlib import Path

from gpufleet.rules import coerce
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.cloud.store import Store
from gpufleet_rehearsal.kubernetes.api import Object
from gpufleet_rehearsal.kubernetes.object_identity import metadata, name_of, namespace_of
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType
from gpufleet_rehearsal.kubernetes.word_lists import word_list
from gpufleet_rehearsal.table.paths import Json

FILE = "kubernetes.db"
NAMESPACE = ResourceType("v1", "Namespace")
VOLUME, CLAIM = ResourceType("v1", "PersistentVolume"), ResourceType("v1", "PersistentVolumeClaim")


class RecordedObjects:
    """The notes of one cluster; several environments of a rehearsal have one each, with objects of the same names.

    cluster: the address of its API server, empty where the program gives none. Without a control plane that is all that
    tells two clusters apart.
    """

    def __init__(self, directory: Path, cluster: str) -> None:
        self._store, self._cluster = Store(directory / FILE), cluster

    def put(
        self, kind: ResourceType, urn: str, id_: str, inputs: Mapping[str, Json], outputs: Mapping[str, Json]
    ) -> None:
        """Note an object, or note it again."""
        with self._store.transaction():
            held = self._held(kind, id_)
            if held is not None:
                self._store.change(held, inputs=inputs, outputs=outputs, version=held.version + 1)
                return
            now = time.time()
            self._store.add(
                type_=str(kind),
                id_=f"{self._cluster} {id_}",
                urn=urn,
                name=urn.rpartition("::")[2],
                inputs=inputs,
                outputs=outputs,
                at=now,
                ready_at=now,
            )

    def get(self, kind: ResourceType, id_: str) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
        """Inputs and outputs of what was noted; None when it was not."""
        held = self._held(kind, id_)
        return (held.inputs, held.outputs) if held else None

    def revision(self, kind: ResourceType, id_: str) -> int:
        """How often it was noted; 0 when never."""
        held = self._held(kind, id_)
        return held.version if held else 0

    def any_of(self, kind: ResourceType) -> bool:
        """Whether anything of this kind is noted."""
        return bool(self.of(kind))

    def of(self, kind: ResourceType) -> list[Mapping[str, Json]]:
        """The inputs of all that is noted of this kind."""
        return [held.inputs for held in self._store.resources(str(kind)) if held.id.startswith(f"{self._cluster} ")]

    def remove(self, kind: ResourceType, id_: str) -> bool:
        """Strike out a note, and with a namespace those of what lies in it; False when there was none."""
        held = self._held(kind, id_)
        if held is None:
            return False
        inside = f"{self._cluster} {id_}/"
        with self._store.transaction():
            for each in self._store.resources() if kind == NAMESPACE else ():
                if each.id.startswith(inside):
                    self._store.remove(each, time.time())
            self._store.remove(held, time.time())
        return True

    def finalizer(self, kind: ResourceType, id_: str) -> str:
        """What keeps an object from being deleted, empty for nothing: pv-protection of a volume that a claim names.

        Source: github.com/kubernetes/kubernetes, pkg/controller/volume/pvprotection/pv_protection_controller.go.
        """
        if kind != VOLUME:
            return ""
        claims = (coerce.mapping(claim, "spec") for claim in self.of(CLAIM))
        return (
            "finalizers: kubernetes.io/pv-protection" if any(claim.get("volumeName") == id_ for claim in claims) else ""
        )

    def _held(self, kind: ResourceType, id_: str) -> SimulatedResource | None:
        return self._store.get(str(kind), f"{self._cluster} {id_}")


def recorded_in_all(notes: Store, kind: ResourceType) -> list[Mapping[str, Json]]:
    """The inputs of everything of a kind that is noted in a rehearsal, of whatever cluster. notes: the store FILE."""
    return [held.inputs for held in notes.resources(str(kind))]


def as_live_object(document: Object, before: Mapping[str, Json] | None = None) -> Object:
    """An object as an API server would hold it, as far as that is known without one: with a uid."""
    old = before.get("metadata") if before else None
    uid = old.get("uid") if isinstance(old, Mapping) else None
    return document | {"metadata": {**metadata(document), "uid": uid or str(uuid.uuid4())}}


def recorded_id(document: Object, *, cluster_wide: bool = False) -> str:
    """The id of an object whose scope no API server tells."""
    if cluster_wide or document.get("kind") in word_list("kinds_without_namespace"):
        return name_of(document)
    return f"{namespace_of(document)}/{name_of(document)}"
