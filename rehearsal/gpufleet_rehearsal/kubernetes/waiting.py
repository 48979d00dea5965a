"""Bounded waits on the control plane: until an object is ready, until it is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from gpufleet.errors import UserError
from gpufleet_rehearsal.cloud.clock import Clock, Interrupted
from gpufleet_rehearsal.kubernetes.api import ApiError, ApiPath, ApiServer, ApiUnreachable, Object, UnknownKind
from gpufleet_rehearsal.kubernetes.object_identity import annotation, metadata, name_of, says
from gpufleet_rehearsal.kubernetes.readiness import TESTS, NeverReady, RelatedObjects, why_waiting
from gpufleet_rehearsal.kubernetes.resource_type import ResourceType

SKIP = "pulumi.com/skipAwait"
SECONDS = "pulumi.com/timeoutSeconds"
PROPAGATION = "pulumi.com/deletionPropagationPolicy"
DELETE_SECONDS = 300.0
"""The real provider's, for most kinds."""
DELETE_SECONDS_OF_PODS = 600.0
"""The real provider's, for what takes its pods along."""
OUTAGE_SECONDS = 10.0
"""How long the API server may be gone in the middle of a wait; our choice."""
FIRST_LOOK, SLOWEST_LOOK = 0.1, 2.0
"""Seconds between two looks: at first, and in the end."""
QUIET_SECONDS = 1.0
"""A wait that is shorter is not told of."""

Tell = Callable[[str], Awaitable[None]]
"""Shows how a wait stands, for a moment."""


class ReadinessTimeout(UserError):
    """The object is there, and not ready; the text says since when, and what is missing."""


class DeletionTimeout(UserError):
    """The object is there still; the text says what holds it."""


@dataclass(frozen=True)
class Target:
    """One object of the control plane. namespace: empty for kinds that lie in none."""

    api: ApiServer
    kind: ResourceType
    place: ApiPath
    namespace: str
    name: str

    def __str__(self) -> str:
        where = f"{self.namespace}/" if self.place.namespaced else ""
        return f"{self.kind.kind} {where}{self.name}"

    async def look(self) -> Object | None:
        """The object as it is now; None when it is gone."""
        return await asyncio.to_thread(self.api.get, self.place, self.namespace, self.name)


def seconds_for(document: Object, asked: float, default: float) -> float:
    """How long a wait may take: by the resource's option, its annotation, else the default. Errors: UserError."""
    if asked > 0:
        return asked
    given = annotation(document, SECONDS)
    if given is None:
        return default
    try:
        return float(given)
    except ValueError as error:
        raise UserError(f"{name_of(document)}: {SECONDS}={given!r} is not a number of seconds") from error


async def until_ready(target: Target, live: Object, inputs: Object, asked: float, clock: Clock, tell: Tell) -> Object:
    """Wait until the object is ready and return it as it is then.

    inputs: whose annotations say how long, or not at all. asked: seconds of the resource option, 0 when there is none.
    Errors: ReadinessTimeout, NeverReady, Interrupted; ApiUnreachable after OUTAGE_SECONDS without an answer.
    """
    test, default = TESTS.get(f"{target.kind.group}/{target.kind.kind}", (None, 0))
    if test is None or target.kind.patch or says(inputs, SKIP):
        return live
    began, seen, pause, last, seconds = time.monotonic(), time.monotonic(), FIRST_LOOK, "", seconds_for(
        inputs, asked, default
    )  # fmt: skip
    while True:
        missing = test(live, await _belonging(target, live))
        if not missing:
            return live
        if missing != last and time.monotonic() - began > QUIET_SECONDS:
            await tell(f"waiting: {missing}")
            last = missing
        if time.monotonic() - began > seconds:
            raise ReadinessTimeout(f"{target} is not ready after {seconds:g} s: {missing}{await _pods(target, live)}")
        await clock.pause(pause)
        pause = min(pause * 1.3, SLOWEST_LOOK)
        try:
            found = await target.look()
            seen = time.monotonic()
        except ApiUnreachable as error:
            if time.monotonic() - seen > OUTAGE_SECONDS:
                raise ReadinessTimeout(f"{target} was not ready yet ({missing}), and {error}") from error
            continue
        if found is None:
            raise ReadinessTimeout(
                f"{target} was deleted by somebody else before it was ready; run `pulumi up --refresh`"
            )
        live = found


async def missing_now(target: Target, live: Object) -> str:
    """What a ready object lacks at this moment, in a few words; empty when nothing."""
    test, _ = TESTS.get(f"{target.kind.group}/{target.kind.kind}", (None, 0))
    if test is None or target.kind.patch or says(live, SKIP):
        return ""
    try:
        return test(live, await _belonging(target, live))
    except NeverReady as error:
        return str(error)


async def _belonging(target: Target, live: Object) -> RelatedObjects:
    """What the test of this kind looks at; nothing when the API server cannot say."""
    api, row = target.api, f"{target.kind.group}/{target.kind.kind}"
    try:
        if row == "core/Service":
            place = await asyncio.to_thread(api.place, "discovery.k8s.io/v1", "EndpointSlice")
            selector = f"kubernetes.io/service-name={target.name}"
            return RelatedObjects(
                endpoints=await asyncio.to_thread(api.list, place, target.namespace, labelSelector=selector)
            )
        class_name = (live.get("spec") or {}).get("storageClassName")
        if row == "core/PersistentVolumeClaim" and class_name:
            place = await asyncio.to_thread(api.place, "storage.k8s.io/v1", "StorageClass")
            found = await asyncio.to_thread(api.get, place, "", class_name)
            return RelatedObjects(binds_at_once=(found or {}).get("volumeBindingMode") != "WaitForFirstConsumer")
    except (ApiError, UnknownKind, ApiUnreachable):
        # The wait itself will tell of an API server that is gone.
        return RelatedObjects()
    return RelatedObjects()


async def _pods(target: Target, live: Object) -> str:
    """Why its pods wait: `; web-abc: 0/3 nodes are available ...`, three pods at most."""
    labels = ((live.get("spec") or {}).get("selector") or {}).get("matchLabels")
    if not isinstance(labels, dict) or not labels:
        return ""
    selector = ",".join(f"{key}={value}" for key, value in sorted(labels.items()))
    try:
        place = await asyncio.to_thread(target.api.place, "v1", "Pod")
        pods = await asyncio.to_thread(target.api.list, place, target.namespace, labelSelector=selector)
    except (ApiError, UnknownKind, ApiUnreachable):
        return ""
    reasons = [f"{name_of(pod)}: {why}" for pod in pods if (why := why_waiting(pod))]
    more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
    return "".join(f"; {reason}" for reason in reasons[:3]) + more


async def delete(target: Target, state: Object, asked: float, clock: Clock, tell: Tell) -> None:
    """Delete the object and wait until it is gone, or until another one has its name.

    state: the object as the stack's state has it, for its annotations and uid. Errors: DeletionTimeout, ApiError,
    ApiUnreachable, Interrupted.
    """
    api, uid = target.api, metadata(state).get("uid")
    policy = annotation(state, PROPAGATION) or "foreground"
    # As the API spells it: Foreground, Background, Orphan.
    await asyncio.to_thread(api.delete, target.place, target.namespace, target.name, policy.capitalize())
    if says(state, SKIP):
        return
    pods = f"{target.kind.group}/{target.kind.kind}" in ("apps/Deployment", "apps/StatefulSet", "apps/DaemonSet")
    seconds = seconds_for(state, asked, DELETE_SECONDS_OF_PODS if pods else DELETE_SECONDS)
    began, pause, last = time.monotonic(), FIRST_LOOK, ""
    while True:
        live = await target.look()
        if live is None or (uid and metadata(live).get("uid") != uid):
            return
        held = _held(live)
        if held and held != last and time.monotonic() - began > QUIET_SECONDS:
            await tell(f"being deleted: {held}")
            last = held
        if time.monotonic() - began > seconds:
            raise _still_there(str(target), seconds, held)
        try:
            await clock.pause(pause)
        except Interrupted as error:
            raise DeletionTimeout(f"interrupted while {target} was being deleted; run the command again") from error
        pause = min(pause * 1.3, SLOWEST_LOOK)


async def until_released(target: str, finalizer: Callable[[], str], seconds: float, clock: Clock) -> None:
    """Wait until nothing keeps an object that is only noted down. Errors: DeletionTimeout, Interrupted."""
    began, pause = time.monotonic(), FIRST_LOOK
    while held := finalizer():
        if time.monotonic() - began > seconds:
            raise _still_there(target, seconds, held)
        await clock.pause(pause)
        pause = min(pause * 1.3, SLOWEST_LOOK)


def _still_there(target: str, seconds: float, held: str) -> DeletionTimeout:
    """The error for an object that is not gone in time. held: what keeps it; empty when nothing says so."""
    return DeletionTimeout(
        f"{target} is still there {seconds:g} s after it was to be deleted{f'; {held}' if held else ''}; take "
        "away what holds it, then run the command again"
    )


def _held(live: Object) -> str:
    """What keeps an object that is being deleted."""
    finalizers = [*(metadata(live).get("finalizers") or []), *((live.get("spec") or {}).get("finalizers") or [])]
    status = live.get("status") or {}
    conditions = status.get("conditions") or [] if isinstance(status, dict) else []
    told = [
        str(entry.get("message"))
        for entry in conditions
        if entry.get("type") in ("NamespaceContentRemaining", "NamespaceFinalizersRemaining", "Terminating")
        and entry.get("status") == "True"
    ]
    words = [f"finalizers: {', '.join(map(str, finalizers))}"] if finalizers else []
    return "; ".join([*words, *told])
