"""Objects on a control plane: applied, read, waited for and deleted, as the real provider does it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.clock import Clock, Interrupted
from gpufleet_rehearsal.kubernetes.api import ApiError, ApiServer, Object, UnknownKind
from gpufleet_rehearsal.kubernetes.engine_log import EngineLog
from gpufleet_rehearsal.kubernetes.object_identity import id_of, metadata, name_of, namespace_of, outputs_of, says
from gpufleet_rehearsal.kubernetes.readiness import NeverReady
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType
from gpufleet_rehearsal.kubernetes.waiting import ReadinessTimeout, Target, until_ready
from gpufleet_rehearsal.provider.responses import ResourceInitFailed
from gpufleet_rehearsal.table.paths import Json

FORCE = "pulumi.com/patchForce"
TRIES, FIRST_PAUSE = 5, 0.5
"""A create that comes before its namespace or definition is tried again: so often, after so many seconds, then twice
as many, and so on. As the real provider's, whose pauses are longer."""
TAKEN_OVER = ("kubectl", "kubectl-client-side-apply", "before-first-apply", "pulumi-kubernetes")
"""Managers whose fields the provider takes: the traces of `kubectl apply` and of its own older versions."""
DEFINITION = ResourceType("apiextensions.k8s.io/v1", "CustomResourceDefinition")


class Objects:
    """One control plane, for one process of the provider."""

    def __init__(self, api: ApiServer, default_namespace: str, clock: Clock, log: EngineLog) -> None:
        self.api, self._default, self._clock, self._log = api, default_namespace, clock, log

    async def target(
        self, kind: ResourceType, document: Mapping[str, Any], name: str = "", namespace: str = ""
    ) -> Target:
        """Where an object is, or will be. Errors: UnknownKind, ApiUnreachable, ApiError."""
        place = await asyncio.to_thread(self.api.place, kind.api_version, kind.kind)
        within = (namespace or namespace_of(document, self._default)) if place.namespaced else ""
        return Target(self.api, kind, place, within, name or name_of(document))

    def id(self, target: Target, live: Object) -> str:
        """The id under which the state keeps an object."""
        return id_of(live, namespaced=target.place.namespaced, default=target.namespace)

    async def foreseen(self, kind: ResourceType, document: Object, manager: str, *, new: bool) -> Object:
        """What the API server would make of an object. Errors: ApiError, UnknownKind, ApiUnreachable."""
        target = await self.target(kind, document)
        if not new and kind == DEFINITION:
            return await self._replace(target, document, manager, dry_run=True)
        try:
            return await self._apply(target, document, manager, force=new or says(document, FORCE), dry_run=True)
        except ApiError as error:
            if not new or "field is immutable" not in str(error):
                raise
            # A replacement: the old object is still there under the same name. Another name shows the new one.
            other = {**document, "metadata": {**metadata(document), "name": f"{name_of(document)[:247]}-new"}}
            answer = await self._apply(await self.target(kind, other), other, manager, force=True, dry_run=True)
            return answer | {"metadata": {**metadata(answer), "name": name_of(document)}}

    async def create(
        self, kind: ResourceType, urn: str, document: Object, manager: str, seconds: float
    ) -> tuple[str, dict[str, Json]]:
        """Apply an object, wait until it is ready, and return its id and outputs.

        Errors: ResourceInitFailed, UserError, Interrupted.
        """

        async def work() -> tuple[Target, Object]:
            target = await self.target(kind, document)
            return target, await self._apply(target, document, manager, force=says(document, FORCE))

        target, live = await self._patiently(work)
        return await self._ready(target, urn, live, document, manager, seconds)

    async def update(
        self,
        kind: ResourceType,
        urn: str,
        document: Object,
        manager: str,
        seconds: float,
        ignored: Sequence[str],
    ) -> dict[str, Json]:
        """Change an object that is there. Errors: as create, and UserError when it is gone."""
        target = await self.target(kind, document)
        if await target.look() is None:
            raise UserError(
                f"{target} no longer exists, deleted outside of the program; run `pulumi up --refresh` to create it "
                "again"
            )
        if kind == DEFINITION:
            live = await self._replace(target, document, manager)
        else:
            live = await self._apply(target, document, manager, force=says(document, FORCE), ignored=ignored)
        return (await self._ready(target, urn, live, document, manager, seconds))[1]

    async def _ready(
        self, target: Target, urn: str, live: Object, document: Object, manager: str, seconds: float
    ) -> tuple[str, dict[str, Json]]:
        id_ = self.id(target, live)

        async def tell(text: str) -> None:
            await self._log.stand(text, urn)

        try:
            live = await until_ready(target, live, document, seconds, self._clock, tell)
        except (ReadinessTimeout, NeverReady, Interrupted, UserError) as error:
            why = str(error) or (f"interrupted before {target} was ready; the next `pulumi up` continues with it")
            reason = f"{target}: {why}" if isinstance(error, NeverReady) else why
            raise ResourceInitFailed(
                id_, properties=outputs_of(live, manager), inputs=document, reasons=[reason]
            ) from error
        return id_, outputs_of(live, manager)

    async def _patiently(self, work: Callable[[], Coroutine[Any, Any, tuple[Target, Object]]]) -> tuple[Target, Object]:
        for turn in range(TRIES):
            try:
                return await work()
            except (UnknownKind, ApiError) as error:
                last = turn == TRIES - 1
                if last or (isinstance(error, ApiError) and error.code != 404):
                    raise
            await self._clock.pause(FIRST_PAUSE * 2**turn)
        raise AssertionError("the last try returns or raises")

    async def _apply(
        self,
        target: Target,
        document: Object,
        manager: str,
        *,
        force: bool,
        dry_run: bool = False,
        ignored: Sequence[str] = (),
    ) -> Object:
        """Server-side apply; fields of managers that the provider takes over are taken, others are reported."""

        def send(sent: Object, force: bool) -> Object:
            return self.api.apply(target.place, target.namespace, sent, manager=manager, force=force, dry_run=dry_run)

        try:
            return await asyncio.to_thread(send, document, force)
        except ApiError as error:
            if error.code != 409:
                raise
            others = {_manager(cause) for cause in error.causes}
            if others and all(_is_taken_over(other) for other in others):
                return await asyncio.to_thread(send, document, True)
            fields = [str(cause.get("field", "")).lstrip(".") for cause in error.causes]
            if fields and all(any(f == path or f.startswith(f"{path}.") for path in ignored) for f in fields):
                # The program ignores changes of them: they are the other manager's.
                return await asyncio.to_thread(send, _without(document, fields), force)
            if not fields:
                raise
            raise UserError(
                f"{target}: {', '.join(fields)}: also set by {', '.join(sorted(others))}, which wants another value; "
                f'leave the field to it (ignore_changes), or take it with the annotation {FORCE}: "true"'
            ) from error

    async def _replace(self, target: Target, document: Object, manager: str, *, dry_run: bool = False) -> Object:
        """A CustomResourceDefinition is put in the old one's place, as the real provider does: its objects stay."""
        live = await target.look()
        version = metadata(live).get("resourceVersion") if live else None
        whole = {**document, "metadata": {**metadata(document), "resourceVersion": version}}

        def send() -> Object:
            return self.api.replace(target.place, target.namespace, whole, manager=manager, dry_run=dry_run)

        return await asyncio.to_thread(send)

    async def relinquish(self, target: Target, manager: str) -> None:
        """Give up the fields that a `...Patch` resource owns; the object stays. Errors: ApiError, ApiUnreachable."""
        about = {"name": target.name} | ({"namespace": target.namespace} if target.namespace else {})
        bare: Object = {"apiVersion": target.kind.api_version, "kind": target.kind.kind, "metadata": about}
        if await target.look() is not None:
            await self._apply(target, bare, manager, force=True)


def _manager(cause: Mapping[str, str]) -> str:
    """The other manager of a conflict: `conflict with "kubectl" using apps/v1: .spec.replicas`."""
    parts = str(cause.get("message", "")).split('"')
    return parts[1] if len(parts) > 2 else "somebody else"


def _is_taken_over(manager: str) -> bool:
    return manager in TAKEN_OVER


def _without(document: Object, fields: Sequence[str]) -> Object:
    """The object without these fields, `spec.replicas` each."""
    found = dict(document)
    for field in fields:
        key, _, rest = field.partition(".")
        if not rest:
            found.pop(key, None)
        elif isinstance(found.get(key), Mapping):
            found[key] = _without(dict(found[key]), [rest])
    return found


__all__ = ["NeverReady", "Objects", "Target", "UnknownKind"]
