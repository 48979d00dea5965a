"""The Batch accounts of a simulated cloud: their pools as Azure Resource Manager has them, and what is done in them.

What an account holds besides (jobs, tasks, nodes) is kept in the rehearsal's file, and continues between two requests
by as much time as has passed in the rehearsal: nothing needs to run in the meantime.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from gpufleet_rehearsal.azure_batch.account import KINDS, BatchRejection
from gpufleet_rehearsal.azure_batch.played_nodes import PlayedBatch
from gpufleet_rehearsal.azure_storage.containers import BlobRejection, Containers
from gpufleet_rehearsal.cloud.interpreter import Cloud
from gpufleet_rehearsal.cloud.open_cloud import timeline
from gpufleet_rehearsal.cloud.resource import SimulatedResource
from gpufleet_rehearsal.played_jobs import LOOK_SECONDS

ACCOUNT, POOL = "azure-native:batch:BatchAccount", "azure-native:batch:Pool"
_KEPT = ("at", "pools", "nodes", "jobs", "tasks", "recorded", "resized", "evaluated", "ended", "held")
"""Fields of a `PlayedBatch` that the file keeps as they are."""
_QUOTAS = {"DedicatedNodes": "batch", "LowPriorityNodes": "batch-spot"}
"""What the simulated cloud calls the quotas of an account (cloud/scope.py)."""


@dataclass
class RehearsedAccounts:
    """The accounts of one cloud, each by its name."""

    cloud: Cloud
    _lock: Lock = field(default_factory=Lock)

    @contextmanager
    def open(self, name: str) -> Iterator[PlayedBatch]:
        """The account as it is now, for one request; what is changed in it is kept.

        Errors: BatchRejection where the cloud has no such account, StoreError.
        """
        with self._lock, self.cloud.store.transaction():
            resource = next(
                (each for each in self.cloud.store.resources(ACCOUNT) if each.view.get("accountName") == name), None
            )
            if resource is None:
                raise BatchRejection(404, "AccountNotFound", f"The simulated cloud has no Batch account {name}.")
            clock, key = timeline(self.cloud.store, self.cloud.settings), f"azure-batch:{resource.serial}"
            kept = json.loads(self.cloud.store.fact(key) or "{}")
            batch = self._read(kept, str(resource.view.get("location")))
            batch.at = batch.at or clock.now()
            declared = self._declare(batch, name, kept.get("declared", {}))
            batch.advance(clock.now() if clock.counts else batch.at + LOOK_SECONDS)
            yield batch
            files = [[*key, content.decode(), made] for key, (content, made) in batch.files.items()]
            told = {field: getattr(batch, field) for field in _KEPT} | {"files": files, "declared": declared}
            self.cloud.store.remember(key, json.dumps(told))

    def _read(self, kept: Mapping[str, Any], location: str) -> PlayedBatch:
        view = self.cloud.view

        def has_capacity(size: str) -> bool:
            if not view.no_capacity(size, location):
                return True
            view.faults.met_capacity()
            return False

        return PlayedBatch(
            **{field: kept[field] for field in _KEPT if field in kept},
            files={(job, name): (text.encode(), made) for job, name, text, made in kept.get("files", [])},
            cores=lambda size: view.vcpus(size) or 0,
            quota=lambda kind: view.quota(_QUOTAS[kind]),
            has_capacity=has_capacity,
            copy=self._copy,
        )

    def _declare(self, batch: PlayedBatch, account: str, before: Mapping[str, Any]) -> dict[str, Any]:
        """Give the account the pools that the subscription has; how each is scaled there."""
        pools = {
            str(each.view["poolName"]): each
            for each in self.cloud.store.resources(POOL)
            if each.view.get("accountName") == account
        }
        for name in [name for name in batch.pools if name not in pools or _declared(pools[name])[0] != before[name][0]]:
            batch.remove_pool(name)
        for name, resource in pools.items():
            if name not in batch.pools:
                _add(batch, name, resource)
            elif _declared(resource) != before[name]:
                _scale(batch, name, resource)
        return {name: _declared(each) for name, each in pools.items()}

    def _copy(self, container: str, path: str, content: bytes) -> None:
        """What a node copies to a container; one that is gone gets nothing."""
        url, held = urlsplit(container), Containers(self.cloud.store)
        with suppress(BlobRejection):
            held.write(held.find((url.hostname or "").partition(".")[0], url.path.strip("/")), path, content)


def _declared(resource: SimulatedResource) -> list[Any]:
    """Which pool it is, and how it is scaled, as the program says it."""
    return [resource.serial, resource.view.get("scaleSettings")]


def _add(batch: PlayedBatch, name: str, resource: SimulatedResource) -> None:
    """A pool as the subscription tells of it, with the nodes that the simulated cloud says it has."""
    told: Mapping[str, Any] = resource.view
    pool = batch.add_pool(
        name,
        vmSize=told["vmSize"],
        enableInterNodeCommunication=told.get("interNodeCommunication") == "Enabled",
        taskSlotsPerNode=int(told.get("taskSlotsPerNode", 1)),
    )
    for kind in KINDS:
        batch.add_nodes(pool, kind, int(told.get(f"current{kind}", 0)))
    _scale(batch, name, resource)
    errors = (told.get("resizeOperationStatus") or {}).get("errors")
    if errors:
        pool |= {"allocationState": "steady", "resizeErrors": errors}


def _scale(batch: PlayedBatch, name: str, resource: SimulatedResource) -> None:
    """Scale a pool as the program says it."""
    settings: Any = resource.view.get("scaleSettings") or {}
    pool = batch.pools[name]
    batch.disable_autoscale(name)
    if formula := (settings.get("autoScale") or {}).get("formula"):
        pool |= {"enableAutoScale": True, "autoScaleFormula": formula}
        return
    fixed = settings.get("fixedScale") or {}
    for kind in KINDS:
        pool[f"target{kind}"] = int(fixed.get(f"target{kind}", 0))
    if any(pool[f"target{kind}"] != pool[f"current{kind}"] for kind in KINDS):
        pool["allocationState"] = "resizing"
