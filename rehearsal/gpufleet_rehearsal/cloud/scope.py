"""The simulated cloud as paths and conditions see it: its resources, its time, the catalog's facts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gpufleet_rehearsal.cloud.addresses import free_addresses
from gpufleet_rehearsal.cloud.availability import InstanceCatalog
from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.faults import Faults
from gpufleet_rehearsal.cloud.store import SimulatedResource, Store
from gpufleet_rehearsal.table.loader import CloudTable
from gpufleet_rehearsal.table.model import Reference
from gpufleet_rehearsal.table.paths import Json, ResourceView, Scope
from gpufleet_rehearsal.table.templates import fill

_OF_BATCH = {"batch": "on-demand", "batch-spot": "spot"}
"""Quotas of a Batch account on all its cores of a market, as the table and the settings call them."""
RESTRICTED = "restricted_zones"
"""Key under which the store remembers the restricted zones of the account's file, as JSON."""
LIMITS = "limits"
"""Key under which the store remembers the limits of the account's file, as JSON."""


@dataclass(frozen=True)
class ResourceRequest:
    """A resource that is being asked for; looks like one that is there."""

    type: str
    id: str
    name: str
    view: Mapping[str, Json]
    version: int = 1


@dataclass
class CloudView:
    """`paths.CloudState` over a store."""

    table: CloudTable
    store: Store
    clock: Clock
    faults: Faults
    offers: InstanceCatalog
    region: str
    account: str
    seed: int
    quotas: Mapping[str, int]
    default_tags: Mapping[str, Json] = field(default_factory=dict)

    def find(self, handle: str, types: Sequence[str]) -> Sequence[SimulatedResource]:
        return self.store.find(handle, types)

    def resources_of(self, type_: str) -> Sequence[SimulatedResource]:
        return [resource for resource in self.store.resources(type_) if resource.status != "deleting"]

    def path_targets(self, thing: ResourceView, path: str, value: str) -> Sequence[SimulatedResource]:
        row = self.table.types.get(thing.type)
        reference = row.references.get(path) if row else None
        return self.find(value, ()) if reference is None else self.reference_targets(reference, thing, value)

    def reference_targets(self, reference: Reference, thing: ResourceView, value: str) -> Sequence[SimulatedResource]:
        """Resources of the types of a reference: what `value` is a handle of, or has the id that it is a part of."""
        if reference.id is None:
            return self.find(value, reference.to)
        whole = fill(reference.id, Scope(thing, self))
        return self.find(whole, reference.to) if isinstance(whole, str) else []

    def age(self, thing: object) -> float:
        if not self.clock.counts or not isinstance(thing, SimulatedResource):
            return math.inf
        return self.clock.now() - thing.ready_at

    def status(self, thing: object) -> str:
        if not isinstance(thing, SimulatedResource):
            return "creating"
        # Where time does not count, what an earlier, slower run began is over.
        unready = self.clock.counts and self.clock.now() < thing.ready_at
        return "creating" if thing.status == "available" and unready else thing.status

    def offered(self, instance_type: str, zone: str | None) -> bool | None:
        return self.offers.offered(instance_type, self.region, zone)

    def vcpus(self, instance_type: str) -> int | None:
        return self.offers.vcpus(instance_type)

    def no_capacity(self, instance_type: str, zone: str) -> bool:
        return self.faults.no_capacity(instance_type, zone)

    def restricted(self, instance_type: str, zone: str) -> bool:
        zones: dict[str, list[str]] = json.loads(self.store.fact(RESTRICTED) or "{}")
        return zone in zones.get(instance_type, ())

    def family(self, instance_type: str) -> str | None:
        return self.offers.family(instance_type)

    def zone(self, name: str) -> str:
        return self.offers.zone(name, self.region)

    @property
    def zones(self) -> Sequence[str]:
        return self.offers.zones(self.region)

    def quota(self, family: str) -> int | None:
        """On-demand vCPUs that are left to simulated resources: by the settings, or by the account's file."""
        if family in self.quotas:
            return self.quotas[family]
        named, market = self.offers.quota_name(family), _OF_BATCH.get(family)
        for each in json.loads(self.store.fact("quotas") or "[]"):
            # A quota of an Azure Batch account names the account. Its name in a rehearsal is made up, so that this goes
            # for each; the subscription's quotas have none.
            if each.get("account"):
                fits = (each["family"], each["market"]) == ("all", market)
            else:
                fits = (
                    market is None and each["market"] == "on-demand" and self.offers.same_family(each["family"], named)
                )
            if fits:
                return int(each["limit"]) - int(each.get("in_use") or 0)
        return None

    @property
    def limits(self) -> Mapping[str, int]:
        """How many of a thing the account may hold: a new account's, or what the account's file raises it to."""
        raised: dict[str, int] = json.loads(self.store.fact(LIMITS) or "{}")
        return self.table.row.limits | self.table.row.fixed_limits | raised

    def free_addresses(self, subnet: ResourceView, without: ResourceView) -> int | None:
        return free_addresses(self, subnet, without)

    def file_count(self, thing: object) -> int:
        return len(self.store.files(thing)) if isinstance(thing, SimulatedResource) else 0
