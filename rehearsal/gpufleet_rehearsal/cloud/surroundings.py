"""The simulated cloud as paths and conditions see it: its resources, its time, the catalog's facts."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gpufleet_rehearsal.cloud.clock import Clock
from gpufleet_rehearsal.cloud.faults import Faults
from gpufleet_rehearsal.cloud.store import Resource, Store
from gpufleet_rehearsal.table.loading import Table
from gpufleet_rehearsal.table.paths import Json


@dataclass(frozen=True)
class Request:
    """A resource that is being asked for; looks like one that is there."""

    type: str
    id: str
    name: str
    view: Mapping[str, Json]
    version: int = 1


class Offers(Protocol):
    """What the catalog knows of instance types."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        """Whether a zone id (or the region) offers the type; None when the catalog does not know the type."""
        ...

    def vcpus(self, instance_type: str) -> int | None:
        """vCPUs of one instance; None when the catalog does not know the type."""
        ...


class NothingKnown:
    """A catalog that knows no type: everything is offered, nothing counts against a quota."""

    def offered(self, instance_type: str, region: str, zone: str | None) -> bool | None:
        return None

    def vcpus(self, instance_type: str) -> int | None:
        return None


@dataclass
class CloudView:
    """`paths.Surroundings` over a store."""

    table: Table
    store: Store
    clock: Clock
    faults: Faults
    offers: Offers
    region: str
    account: str
    seed: int
    quotas: Mapping[str, int]
    default_tags: Mapping[str, Json] = field(default_factory=dict)

    def find(self, handle: str, types: Sequence[str]) -> Sequence[Resource]:
        return self.store.find(handle, types)

    def things(self, type_: str) -> Sequence[Resource]:
        return [resource for resource in self.store.resources(type_) if resource.status != "deleting"]

    def targets(self, type_: str, path: str) -> Sequence[str]:
        row = self.table.types.get(type_)
        reference = row.references.get(path) if row else None
        return reference.to if reference else ()

    def age(self, thing: object) -> float:
        if not self.clock.counts or not isinstance(thing, Resource):
            return math.inf
        return self.clock.now() - thing.ready_at

    def status(self, thing: object) -> str:
        if not isinstance(thing, Resource):
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

    def quota(self, family: str) -> int | None:
        """On-demand vCPUs that are left to simulated resources: by the settings, or by the account's file."""
        if family in self.quotas:
            return self.quotas[family]
        named = {"G": "G and VT"}.get(family, family)
        for each in json.loads(self.store.fact("quotas") or "[]"):
            if (each["family"], each["market"]) == (named, "on-demand"):
                return int(each["limit"]) - int(each.get("in_use") or 0)
        return None

    def file_count(self, thing: object) -> int:
        return len(self.store.files(thing)) if isinstance(thing, Resource) else 0
