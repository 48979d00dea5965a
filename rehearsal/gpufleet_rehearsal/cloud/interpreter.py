"""A simulated cloud: the interpreter of a table. Everything that is particular to one cloud is data.

A create is accepted or rejected in one transaction, and a rejected one leaves no trace. An accepted resource is in the
store at once, is `creating` for as long as the real cloud takes, and then exists even if nobody has waited for it. A
failure that the cloud reports later (`comes: in-status`) leaves a failed resource behind, which the next update creates
again (assumed: what the real provider does then was not found out).
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, TypeVar

from gpufleet_rehearsal.cloud.admission import add_leftovers, add_resource, apply_update
from gpufleet_rehearsal.cloud.availability import EmptyInstanceCatalog, InstanceCatalog
from gpufleet_rehearsal.cloud.change import UNKNOWN, Diff
from gpufleet_rehearsal.cloud.checks import (
    CloudError,
    Rejection,
    cascade_of,
    create_rejection,
    deletion_rejection,
    error_text,
    refusals,
    view_of,
)
from gpufleet_rehearsal.cloud.clock import Clock, Interrupted
from gpufleet_rehearsal.cloud.creation import PlannedResource, operation_seconds, plan_resource, preview_outputs
from gpufleet_rehearsal.cloud.diff import diff
from gpufleet_rehearsal.cloud.faults import Faults, InjectedError
from gpufleet_rehearsal.cloud.naming import ending_of, generated_name
from gpufleet_rehearsal.cloud.scope import CloudView, ResourceRequest
from gpufleet_rehearsal.cloud.settings import RehearsalSettings
from gpufleet_rehearsal.cloud.store import SimulatedResource, Store, StoreError, merged
from gpufleet_rehearsal.table.loader import CloudTable
from gpufleet_rehearsal.table.model import Operation, Refusal, TypeRow
from gpufleet_rehearsal.table.paths import Json, Scope
from gpufleet_rehearsal.table.templates import fill

T = TypeVar("T")

LOOK_EVERY = 10.0
"""Simulated seconds between two looks while the provider repeats a call."""
LOOKS_AT_MOST = 200
"""How often it is repeated at most, where time does not count."""

Problems = Callable[[str, Mapping[str, Json]], Iterable[tuple[str, str]]]
"""(type, inputs) -> (property path, whole line) of everything that is wrong with the inputs."""


class CheckFailure(NamedTuple):
    """Inputs that the provider rejects before anything is asked of the cloud."""

    property: str
    reason: str


class ProvisioningFailed(Exception):
    """The cloud accepted, and failed later: the resource exists."""

    def __init__(self, resource: SimulatedResource, reasons: list[str]) -> None:
        self.resource, self.reasons = resource, reasons
        super().__init__("; ".join(reasons))


def no_problems(_type: str, _inputs: Mapping[str, Json]) -> Iterable[tuple[str, str]]:
    """Input checks that find nothing."""
    return ()


def die() -> None:
    """End this process as a crash would."""
    os._exit(70)


def logical_name(urn: str) -> str:
    """The resource's name in the program."""
    return urn.rpartition("::")[2]


@dataclass
class Cloud:
    """A cloud with a table, held by a store. `region` and `default_tags` come from the provider's configuration."""

    table: CloudTable
    store: Store
    clock: Clock
    settings: RehearsalSettings
    problems: Problems = no_problems
    offers: InstanceCatalog = field(default_factory=EmptyInstanceCatalog)
    dies: Callable[[], None] = die

    def __post_init__(self) -> None:
        s = self.settings
        self.faults = Faults(s.faults, self.store, s.seed, self.table.row.unknown_error)
        self.view = CloudView(
            self.table, self.store, self.clock, self.faults, self.offers, s.region, s.account, s.seed, s.quotas
        )

    def row(self, type_: str) -> TypeRow:
        """The row of a type. CloudError, never a silent accept, when there is none."""
        row = self.table.types.get(type_)
        if row is None or row.hidden:
            service = type_.split(":")[1].partition("/")[0] if ":" in type_ else "<service>"
            raise CloudError(
                "NotInTheTable",
                f"{type_} is not in the rehearsal's table; add a row to {self.table.cloud}/types/{service}.yaml: "
                "see docs/rehearsal.md",
            )
        return row

    def check(
        self, type_: str, name: str, news: Mapping[str, Json], olds: Mapping[str, Json], seed: bytes = b""
    ) -> tuple[dict[str, Json], list[CheckFailure]]:
        """Inputs with the provider's own name filled in, and what is wrong with them. Asks nothing of the cloud.

        Errors: CloudError, where the provider ends over a name that it cannot make.
        """
        inputs: dict[str, Json] = {key: value for key, value in news.items() if value is not None}
        try:
            row = self.row(type_)
        except CloudError as error:
            return inputs, [CheckFailure("", error.text)]
        auto = row.autoname
        if auto is not None and auto.property not in inputs and f"{auto.property}Prefix" not in inputs:
            whole, kept = self.table.row, olds.get(auto.property)
            inputs[auto.property] = kept or (
                generated_name(auto, whole, type_, name, seed.hex() or self.settings.seed, type_, name)
                + ending_of(auto, inputs)
            )
            if whole.made_flag and (olds.get(whole.made_flag) if kept else auto.kind != "copy"):
                inputs[whole.made_flag] = True
        return inputs, [CheckFailure("", reason) for _, reason in self.problems(type_, inputs)]

    def diff(self, type_: str, name: str, olds: Mapping[str, Json], news: Mapping[str, Json]) -> Diff:
        """What changes between old and new inputs."""
        asked = Scope(ResourceRequest(type_, "", name, news), self.view, old=olds)
        return diff(self.row(type_), self.table.row, asked, olds, news)

    def preview(self, type_: str, urn: str, inputs: Mapping[str, Json]) -> dict[str, Json]:
        """Outputs of a create that is only previewed: what is computed is unknown."""
        return preview_outputs(self.view, self.row(type_), type_, urn, logical_name(urn), inputs)

    def preview_update(self, type_: str, id_: str, urn: str, inputs: Mapping[str, Json]) -> dict[str, Json]:
        """Outputs of an update that is only previewed: as they were, with the new inputs, and unknown where each
        update counts up. (The genuine provider plans so: what is computed stays unless something says it changes.)
        """
        row, resource = self.row(type_), self.store.get(type_, id_)
        if resource is None:
            return self.preview(type_, urn, inputs)
        counted = {key: UNKNOWN for key, template in row.outputs.items() if "$version" in str(template)}
        return {**merged(inputs, resource.outputs, shown=True), **counted}

    def read(self, type_: str, id_: str) -> SimulatedResource | None:
        """The resource of an id (or of what `pulumi import` takes for it), or None."""
        row = self.row(type_)
        self._tidy()
        found = self.store.get(type_, id_)
        if found is None and row.import_id is not None:
            things = self.store.resources(type_)
            found = next((t for t in things if fill(row.import_id, Scope(t, self.view)) == id_), None)
        return found

    def status(self, resource: SimulatedResource) -> str:
        """creating, available, failed or deleting."""
        return self.view.status(resource)

    def operation_seconds(self, type_: str, operation: Operation, inputs: Mapping[str, Json], name: str = "") -> float:
        """Simulated seconds that an operation takes by itself, without waiting for anything and without faults."""
        return operation_seconds(
            self.row(type_).latency, operation, Scope(ResourceRequest(type_, "", name, inputs), self.view)
        )

    async def create(self, type_: str, urn: str, inputs: Mapping[str, Json]) -> SimulatedResource:
        """Make a resource and wait until it is there.

        Errors: CloudError when it is rejected (nothing has changed then), ProvisioningFailed when it fails after
        acceptance.
        """
        return await self._logged("create", type_, urn, "", self._create(type_, urn, inputs))

    async def update(self, type_: str, id_: str, urn: str, inputs: Mapping[str, Json]) -> SimulatedResource:
        """Change a resource to these inputs. One that had failed is made again under its id. Errors as in `create`."""
        return await self._logged("update", type_, urn, id_, self._update(type_, id_, urn, inputs))

    async def delete(self, type_: str, id_: str, urn: str) -> None:
        """Delete a resource; one that is not there is no error. CloudError when something holds it for too long."""
        await self._logged("delete", type_, urn, id_, self._delete(type_, id_, urn))

    async def _logged(self, operation: Operation, type_: str, urn: str, id_: str, work: Awaitable[T]) -> T:
        began = self.clock.now()
        outcome = "ok"
        try:
            result = await work
            if isinstance(result, SimulatedResource):
                id_ = result.id
            return result
        except InjectedError as error:
            outcome = str(error)
            raise CloudError(error.code, error.text) from None
        except (CloudError, ProvisioningFailed, Interrupted) as error:
            outcome = str(error) or "interrupted"
            raise
        finally:
            took = self.clock.now() - began
            # What the cloud has done it has done, even if a disk that is full now has no room for this line.
            with suppress(StoreError):
                self.store.log(operation, type_, urn, id_, at=began, took=took, outcome=outcome)

    def _tidy(self) -> None:
        self.store.finish_deletions(self.clock.now())

    async def _create(self, type_: str, urn: str, inputs: Mapping[str, Json]) -> SimulatedResource:
        row, name = self.row(type_), logical_name(urn)
        self._tidy()
        deadly = self.faults.before("create", type_, urn, name)

        def attempt() -> SimulatedResource | Rejection:
            made = plan_resource(self.view, row, type_, urn, name, inputs)
            scope = Scope(made.request, self.view)
            return create_rejection(self.view, row, "create", scope) or add_resource(self.view, row, urn, made)

        resource = await self._until_granted(attempt)
        if deadly:
            self.dies()
        return await self._finish(resource, "create")

    async def _until_granted(self, attempt: Callable[[], T | Rejection]) -> T:
        """Repeat a call, each time in one transaction, for as long as the genuine provider does."""
        began = self.clock.now()
        for look in count(1):
            with self.store.transaction():
                answer = attempt()
            if not isinstance(answer, Rejection):
                return answer
            if look == LOOKS_AT_MOST or self.clock.now() - began >= answer.retries or not answer.retries:
                raise answer.error
            await self.clock.pause(LOOK_EVERY, least=0.001)
        raise AssertionError("count() does not end")

    async def _finish(self, resource: SimulatedResource, operation: Operation) -> SimulatedResource:
        """Wait until the resource is there, or has failed."""
        try:
            await self.clock.until(resource.ready_at)
            failing = await self._failing(operation, Scope(resource, self.view), resource.created_at)
        except Interrupted:
            reason = "interrupted while the cloud was at work on it; the next `pulumi up` continues with it"
            raise ProvisioningFailed(resource, [reason]) from None
        if failing is None:
            return resource
        reason = f"{failing.code}: {error_text(failing.text, Scope(resource, self.view))}"
        # A type that tells its status tells this one, so that a refresh or a read does not take it for sound.
        shown = {"status": failing.status} if "status" in resource.outputs else {}
        resource = self.store.change(
            resource,
            status="failed",
            reasons=[f"{failing.status}: {reason}"],
            outputs={**resource.outputs, **shown},
        )
        raise ProvisioningFailed(resource, list(resource.reasons))

    async def _failing(self, operation: Operation, scope: Scope, began: float) -> Refusal | None:
        """A row that fails what was accepted; it must still hold when the cloud gives up."""
        self.faults.forget_met()
        first = next(refusals(self.view, operation, scope, "in-status"), None)
        if first is None:
            return None
        for _ in range(LOOKS_AT_MOST):
            if not first.when.holds(scope):
                return await self._failing(operation, scope, began)
            if self.clock.now() - began >= first.after:
                break
            await self.clock.pause(LOOK_EVERY, least=0.005)
        self.faults.met_capacity()
        return first

    async def _update(self, type_: str, id_: str, urn: str, inputs: Mapping[str, Json]) -> SimulatedResource:
        row, name = self.row(type_), logical_name(urn)
        self._tidy()
        self.faults.before("update", type_, urn, name)
        resource = self.store.get(type_, id_)
        if resource is None:
            raise CloudError("NotFound", f"{type_} {id_!r} does not exist; run `pulumi refresh`")
        await self.clock.until(resource.ready_at)
        recreated = resource.status == "failed"

        def attempt() -> tuple[PlannedResource, Scope] | Rejection:
            made = plan_resource(
                self.view, row, type_, urn, name, inputs, id_=id_, version=resource.version + (0 if recreated else 1)
            )
            view = made.request.view if recreated else view_of(made.request.view, resource)
            here = ResourceRequest(type_, id_, name, view, made.request.version)
            scope = Scope(here, self.view, old=None if recreated else resource.view)
            return create_rejection(self.view, row, "create" if recreated else "update", scope, own=resource) or (
                made,
                scope,
            )

        made, scope = await self._until_granted(attempt)
        took = operation_seconds(row.latency, "create" if recreated else "update", scope) * self.faults.slowness(type_)
        ends = self.clock.ends(took)
        if recreated:
            fresh = self.store.change(
                resource, inputs=made.inputs, outputs=made.outputs, status="available", reasons=[],
                created_at=self.clock.now(), ready_at=ends,
            )  # fmt: skip
            return await self._finish(fresh, "create")
        failing = await self._failing("update", scope, self.clock.now())
        if failing is not None:
            raise CloudError(failing.code, error_text(failing.text, scope))
        changed = apply_update(self.view, resource, made, urn, ends)
        await self.clock.until(ends)
        return changed

    async def _delete(self, type_: str, id_: str, urn: str) -> None:
        row, name = self.row(type_), logical_name(urn)
        self._tidy()
        self.faults.before("delete", type_, urn, name)

        def attempt() -> SimulatedResource | Rejection | None:
            resource = self.store.get(type_, id_)
            if resource is None:
                return None
            no = deletion_rejection(self.view, row, resource)
            if no is not None:
                return no
            took = operation_seconds(row.latency, "delete", Scope(resource, self.view)) * self.faults.slowness(type_)
            return self.store.change(resource, status="deleting", ready_at=self.clock.ends(took))

        resource = await self._until_granted(attempt)
        if resource is None:
            return
        await self.clock.until(resource.ready_at)
        with self.store.transaction():
            add_leftovers(self.view, row, resource)
            for within in cascade_of(self.view, row, resource):
                self.store.remove(within, self.clock.now())
            self.store.remove(resource, self.clock.now())
