"""What a program's objects go to: a control plane where there is one, else schemas and a note in the rehearsal."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.change import has_unknown
from gpufleet_rehearsal.cloud.clock import Clock, Interrupted
from gpufleet_rehearsal.cloud.settings import load_settings
from gpufleet_rehearsal.kubernetes import waiting
from gpufleet_rehearsal.kubernetes.api import ApiError, ApiServer, ApiUnreachable, Object, UnknownKind
from gpufleet_rehearsal.kubernetes.configuration import DELETE_UNREACHABLE, ProviderConfiguration
from gpufleet_rehearsal.kubernetes.control_plane import RehearsalControlPlane
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.object_identity import (
    document_of,
    drifted,
    field_manager,
    foreseen,
    inputs_of,
    metadata,
    name_of,
    named,
    outputs_of,
    split_id,
)
from gpufleet_rehearsal.kubernetes.objects import DEFINITION, Objects
from gpufleet_rehearsal.kubernetes.recorded_objects import RecordedObjects, as_live_object, recorded_id
from gpufleet_rehearsal.kubernetes.releases import Releases
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType, resource_type_of
from gpufleet_rehearsal.kubernetes.schemas import VERSION, Problem, Schemas
from gpufleet_rehearsal.kubernetes.site_line import down
from gpufleet_rehearsal.kubernetes.storage import cluster_storage, why_release_fails
from gpufleet_rehearsal.kubernetes.word_lists import word_list
from gpufleet_rehearsal.provider.responses import ResourceInitFailed
from gpufleet_rehearsal.table.paths import Json

UNREACHED_SECONDS = 30.0
"""The client's time for a connection: net/http's default dialer, as client-go has it (transport/cache.go)."""
STORAGE_CLASS = ResourceType("storage.k8s.io/v1", "StorageClass")
RELEASE_SECONDS = 300.0
"""How long a release is waited for, unless it says so: the real provider's."""
NODE_SYNC_SECONDS = 1.0
"""Between two looks at the simulated cloud's node groups."""
Found = tuple[Mapping[str, Json], Mapping[str, Json]]
"""Inputs and outputs of an object."""


class SimulatedCluster:
    """The cluster of one configuration of the provider."""

    def __init__(self, directory: Path, configuration: ProviderConfiguration, clock: Clock, log: EngineLog) -> None:
        self.configuration = configuration
        self._address = configuration.access.server if configuration.access else ""
        self.releases = Releases(directory, self._address, log, self._play)
        self._directory, self._clock, self._log = directory, clock, log
        self._schemas = Schemas()
        self._own = RehearsalControlPlane(directory)
        self._objects: Objects | None = None
        self._silent = ""
        self._opening = asyncio.Lock()
        self._reached = False
        self._follower: asyncio.Task[None] | None = None

    async def reach(self) -> None:
        """Errors: ApiUnreachable where no line leads to the API, after the client's time for it."""
        if not self._reached and (problem := await asyncio.to_thread(down, self._directory, self._address)):
            await self._pause_of_the_cloud(UNREACHED_SECONDS)
            raise ApiUnreachable(problem)
        self._reached = True

    async def _pause_of_the_cloud(self, seconds: float) -> None:
        """Wait so many of the cloud's seconds: for what is not real, unlike a control plane, whose seconds are."""
        await self._clock.pause(seconds * load_settings(self._directory / "rehearsal.json").latency_scale)

    async def _there(self, *, start: bool = False) -> Objects | None:
        """The control plane; None when there is none (yet). start: bring up the rehearsal's own one. Errors: UserError
        for an own one that does not start."""
        if self._objects is None and not self.configuration.unknown:
            async with self._opening:
                if self._objects is None:
                    access = self.configuration.access
                    if access is None or access.simulated:
                        access = await asyncio.to_thread(self._own.access, start=start)
                        if access is not None:
                            self._follower = asyncio.create_task(self._follow_fleet())
                    if access is not None:
                        namespace = self.configuration.namespace or access.namespace
                        self._objects = Objects(ApiServer(access), namespace, self._clock, self._log)
        return self._objects

    async def _follow_fleet(self) -> None:
        """Keep fake GPU nodes as the cloud's node groups say, as long as the engine is at work."""
        try:
            while True:
                await asyncio.to_thread(self._own.follow_fleet)
                await self._clock.pause(NODE_SYNC_SECONDS)
        except UserError as error:
            await self._log.warn(str(error))
        except Interrupted:
            return

    async def _play(self, release: Mapping[str, Json]) -> str:
        """Run the program of a chart on the rehearsal's own control plane, where it has one. Errors: UserError, also
        for a chart whose pods would never be ready."""
        objects = await self._there(start=True)
        if problem := await self._unready(release, objects):
            await self._pause_of_the_cloud(float(cast("float", release.get("timeout") or RELEASE_SECONDS)))
            raise UserError(problem)
        if objects is None or self._follower is None:
            return ""
        return await asyncio.to_thread(self._own.play, release)

    async def _unready(self, release: Mapping[str, Json], objects: Objects | None) -> str:
        """Why a chart's pods never become ready; empty where nothing says so."""
        made: Sequence[Mapping[str, Any]] = self._noted().of(STORAGE_CLASS)
        if objects is not None:
            place = await asyncio.to_thread(objects.api.place, STORAGE_CLASS.api_version, STORAGE_CLASS.kind)
            made = await asyncio.to_thread(objects.api.list, place, "")
        storage = await asyncio.to_thread(cluster_storage, self._directory, self._address)
        return why_release_fails(release, storage.with_objects(made))

    def _noted(self) -> RecordedObjects:
        return RecordedObjects(self._directory, self._address)

    async def check(
        self, type_: str, logical_name: str, news: Mapping[str, Json], olds: Mapping[str, Json], seed: bytes
    ) -> tuple[Mapping[str, Json], list[Problem]]:
        """The object that inputs say, named and placed, and what is wrong with it. Errors: UserError."""
        kind = resource_type_of(type_, news)
        document = document_of(kind, news)
        if kind.kind.endswith("List") and "items" in document:
            raise UserError(f"{type_}: a list cannot be created; register each of its items by itself")
        found = [
            (key, f"{key}={given}: the resource's type says {wanted}")
            for key, wanted in (("apiVersion", kind.api_version), ("kind", kind.kind))
            if (given := document.get(key)) != wanted and not has_unknown(given)
        ]
        if metadata(document).get("generateName"):
            found.append(("metadata.generateName", "metadata.generateName: not supported by server-side apply"))
        if kind.patch and not name_of(document):
            found.append(("metadata.name", "metadata.name: a Patch resource needs the name of the object to patch"))
        document = named(document, olds, logical_name, seed)
        if kind == DEFINITION:
            self._schemas.learn(document)
        default = self.configuration.namespace
        if default and "namespace" not in metadata(document) and not self._cluster_wide(kind):
            document = document | {"metadata": {**metadata(document), "namespace": default}}
        if not found and await self._there() is None:
            found += self._judged(kind, document)
        return document, found

    def _cluster_wide(self, kind: ResourceType) -> bool:
        return kind.kind in word_list("kinds_without_namespace") or self._schemas.cluster_wide(kind)

    def _judged(self, kind: ResourceType, document: Object) -> list[Problem]:
        return [(path, f"{path}: {why}" if path else why) for path, why in self._schemas.problems(kind, document)]

    async def foresee(
        self, type_: str, urn: str, inputs: Mapping[str, Json], olds: Mapping[str, Json] | None
    ) -> Mapping[str, Json]:
        """What an `up` would make of an object. olds: outputs of the one that is there, None for a new one.

        By the API server's dry run; where it cannot tell (no control plane, values not known, kind or namespace not
        there yet), by the schemas. Errors: UserError.
        """
        kind = resource_type_of(type_, inputs)
        document, new = document_of(kind, inputs), olds is None
        manager = field_manager(urn, olds or {}, document)
        try:
            objects = await self._there()
            if objects and not kind.patch and not has_unknown(cast("Json", document)):
                return foreseen(await objects.foreseen(kind, document, manager, new=new), manager, new=new)
        except UnknownKind:
            pass
        except ApiUnreachable as error:
            # A preview continues without it.
            self._objects, self._silent = None, str(error)
        except ApiError as error:
            # 404: the namespace is made by the same program. 403: not allowed to ask.
            if error.code not in (403, 404):
                raise
        await self._say_what_is_not_verified(kind, urn)
        if problems := self._judged(kind, document):
            raise UserError("; ".join(why for _, why in problems))
        return foreseen(as_live_object(document, olds), manager, new=new)

    async def _say_what_is_not_verified(self, kind: ResourceType, urn: str) -> None:
        if self._objects is None:
            await self._log.warn(
                f"kubernetes: {self._why_none()}; objects are only checked against the schemas of Kubernetes {VERSION}"
            )
        if not self._schemas.knows(kind):
            await self._log.warn(f"{kind}: not verified: its CustomResourceDefinition does not exist (yet)", urn)

    def _why_none(self) -> str:
        if self.configuration.unknown:
            return "the kubeconfig is only known once its cluster exists"
        return self._silent or self._own.why_not or "the rehearsal's control plane is not started by a preview"

    async def create(
        self, type_: str, urn: str, inputs: Mapping[str, Json], seconds: float
    ) -> tuple[str, Mapping[str, Json]]:
        """Make an object; its id and outputs. Errors: UserError, ResourceInitFailed, Interrupted."""
        kind = resource_type_of(type_, inputs)
        document = document_of(kind, inputs)
        manager = field_manager(urn, {}, document)
        await self.reach()
        objects = await self._there(start=True)
        if objects is not None:
            try:
                return await objects.create(kind, urn, document, manager, seconds)
            except UnknownKind:
                if not self.releases.any:
                    raise
                await self._log.warn(
                    f"{kind}: recorded, not applied: no CustomResourceDefinition of it, which a chart may bring, and "
                    "the rehearsal renders no charts",
                    urn,
                )
        else:
            await self._say_what_is_not_applied()
        return self._note(kind, urn, document, manager, None)

    async def _say_what_is_not_applied(self) -> None:
        await self._log.warn(
            f"kubernetes: {self._own.why_not or 'no control plane'}; objects are checked against the schemas of "
            f"Kubernetes {VERSION} and recorded, not applied"
        )

    def _note(
        self, kind: ResourceType, urn: str, document: Object, manager: str, before: Mapping[str, Json] | None
    ) -> tuple[str, Mapping[str, Json]]:
        outputs = outputs_of(as_live_object(document, before), manager)
        id_ = recorded_id(document, cluster_wide=self._schemas.cluster_wide(kind))
        self._noted().put(kind, urn, id_, document, outputs)
        return id_, outputs

    async def update(
        self,
        type_: str,
        urn: str,
        id_: str,
        inputs: Mapping[str, Json],
        olds: Mapping[str, Json],
        seconds: float,
        ignored: Sequence[str],
    ) -> Mapping[str, Json]:
        """Change an object; its outputs. Errors: as create."""
        kind = resource_type_of(type_, inputs)
        document = document_of(kind, inputs)
        manager = field_manager(urn, olds, document)
        await self.reach()
        objects = await self._there(start=True)
        if objects is None or self._noted().get(kind, id_) is not None:
            await self._say_what_is_not_applied()
            return self._note(kind, urn, document, manager, olds)[1]
        return await objects.update(kind, urn, document, manager, seconds, ignored)

    async def read(
        self, type_: str, urn: str, id_: str, inputs: Mapping[str, Json], olds: Mapping[str, Json]
    ) -> Found | None:
        """Inputs and outputs of an object as it is now; None when it is gone. Errors: UserError, ResourceInitFailed."""
        kind = resource_type_of(type_, inputs or olds)
        await self.reach()
        if (noted := self._noted().get(kind, id_)) is not None:
            return noted
        objects = await self._there()
        if objects is None:
            if self.configuration.unknown:
                raise UserError(f"{kind} {id_}: its cluster is not known yet, so it cannot be read")
            # The rehearsal's own control plane is not there, nor is what was on it.
            return None
        namespace, name = split_id(id_)
        try:
            target = await objects.target(kind, {}, name, namespace)
        except UnknownKind:
            return None
        live = await target.look()
        if live is None:
            return None
        outputs = outputs_of(live, field_manager(urn, olds, live))
        if not inputs:
            return inputs_of(live), outputs
        now = cast("Mapping[str, Json]", drifted(inputs, dict(olds), live))
        if missing := await waiting.missing_now(target, live):
            raise ResourceInitFailed(id_, properties=outputs, inputs=now, reasons=[f"{target} is not ready: {missing}"])
        return now, outputs

    async def delete(
        self,
        type_: str,
        urn: str,
        id_: str,
        inputs: Mapping[str, Json],
        olds: Mapping[str, Json],
        seconds: float,
    ) -> None:
        """Delete an object and wait until it is gone; what is gone already is fine. Errors: UserError, Interrupted."""
        state: dict[str, Any] = {**inputs, **olds}
        kind = resource_type_of(type_, state)
        namespace, name = split_id(id_)

        async def tell(text: str) -> None:
            await self._log.stand(text, urn)

        try:
            await self.reach()
            noted = self._noted()
            # What holds it may be going at this moment, with its namespace.
            await waiting.until_released(
                f"{kind.kind} {name}",
                lambda: noted.finalizer(kind, id_),
                waiting.seconds_for(state, seconds, waiting.DELETE_SECONDS),
                self._clock,
            )
            if noted.remove(kind, id_):
                return
            objects = await self._there()
            if objects is None:
                # As in `read`: gone with its control plane.
                return
            target = await objects.target(kind, {}, name, namespace)
            if kind.patch:
                await objects.relinquish(target, field_manager(urn, olds, document_of(kind, inputs)))
            else:
                await waiting.delete(target, state, seconds, self._clock, tell)
        except UnknownKind:
            return
        except ApiUnreachable as error:
            if not self.configuration.delete_unreachable:
                raise UserError(
                    f"{error}; if the cluster is gone for good, {DELETE_UNREACHABLE}=true forgets what was on it"
                ) from error
            await self._log.warn(f"{error}; forgotten, as deleteUnreachable says", urn)
