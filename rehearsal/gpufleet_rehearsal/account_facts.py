"""What a rehearsal's account answers to `gpufleet preflight`: from its store, its file and the catalog."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gpufleet.catalog import aws
from gpufleet.catalog.quota_family import family_of
from gpufleet.errors import UserError
from gpufleet.plan.aws.network_quota_demand import COUNTED
from gpufleet.preflight.aws.facts import CapacityReservation, ExistingResources, PlacementGroup
from gpufleet.preflight.azure.facts import AzureFacts
from gpufleet.rules import coerce
from gpufleet.rules.aws.reservation import BLOCK
from gpufleet_rehearsal.cloud.open_cloud import open_cloud
from gpufleet_rehearsal.cloud.seed_resources import QUOTAS
from gpufleet_rehearsal.cloud.store import SimulatedResource
from gpufleet_rehearsal.table.cloud_conditions import AtLeast
from gpufleet_rehearsal.table.conditions import values_at
from gpufleet_rehearsal.table.paths import Scope
from gpufleet_rehearsal.table.zone_names import zone_id, zone_letter

RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
_MARKETS = {"ON_DEMAND": "on-demand", "SPOT": "spot"}


def _kind(reservation: SimulatedResource) -> str:
    """What EC2 calls its type: default or capacity-block."""
    return coerce.text(reservation.view, "reservationType", "default")


class NotSimulated(UserError):
    """A rehearsal has nothing to answer with; the text is the one line for the user."""


def no_azure(region: str) -> AzureFacts:
    """Errors: NotSimulated, always."""
    raise NotSimulated(
        f"{region}: a rehearsal does not simulate an Azure subscription's quotas; run this outside of a rehearsal"
    )


class SimulatedAws:
    """The account of the rehearsal in `directory`; see `gpufleet.preflight.aws.facts.AwsFacts`.

    stack: node groups of this one are the plan's own. Where the catalog has figures, they are the account's.
    """

    def __init__(self, directory: Path, region: str, stack: str) -> None:
        self._cloud = open_cloud("aws", directory, {"region": region})
        self._region, self._stack = region, stack

    def zone_names(self) -> Mapping[str, str]:
        zones = aws().regions.get(self._region, {})
        return {zone: f"{self._region}{zone_letter(zone)}" for zone in zones}

    def zones_with(self, types: Sequence[str]) -> Mapping[str, Sequence[str]]:
        return {name: aws().zones_with(name, self._region) or () for name in types}

    def limit(self, family: str, market: str) -> int | None:
        found = self._quota(family, market)
        return None if found is None else int(found["limit"])

    def in_use(self, market: str) -> Mapping[str, int]:
        used: dict[str, int] = {}
        for type_name, count in self._instances(market):
            record = aws().types.get(type_name)
            if record is not None:
                family = family_of(type_name, record.quota_family, market)
                used[family] = used.get(family, 0) + count * record.vcpus
        for each in self._quotas():
            if each["market"] == market:
                family = str(each["family"])
                used[family] = used.get(family, 0) + int(each.get("in_use") or 0)
        return used

    def reservation(self, reservation_id: str) -> CapacityReservation | None:
        held = self._cloud.store.get(RESERVATION, reservation_id)
        if held is None:
            return None
        count = coerce.whole(held.inputs, "instanceCount", 0)
        # Whose nodes run in it is not simulated: all of it is free.
        zone = zone_id(str(held.inputs["availabilityZone"]))
        return CapacityReservation(str(held.inputs["instanceType"]), zone, "active", count, count, _kind(held))

    def placement_group(self, name: str) -> PlacementGroup | None:
        found = self._cloud.store.find(name, (PLACEMENT_GROUP,))
        return PlacementGroup(str(found[0].inputs.get("strategy")), "available") if found else None

    def resource_limit(self, counted: str) -> int | None:
        return self._cloud.view.limits.get(counted)

    def network_use(self, counted: str) -> Mapping[str, ExistingResources]:
        quota, cloud = self._refused_above(counted), self._cloud.view
        found: dict[str, ExistingResources] = {}
        for each in filter(self._is_here, cloud.resources_of(COUNTED[counted])):
            scope = Scope(each, cloud)
            if not self._is_here(each) or (
                quota is not None and quota.when is not None and not quota.when.holds(scope)
            ):
                continue
            # Where the table counts by anything but the region, that is the zone.
            paths = [path for path in (quota.where if quota else ()) if path != "region"]
            zone = next((str(value) for path in paths for value in values_at(path, scope)), "")
            held = found.get(zone, ExistingResources(0, 0))
            own = f":{self._stack}::" in each.urn
            found[zone] = ExistingResources(held.own + own, held.others + (not own))
        return found

    def _refused_above(self, counted: str) -> AtLeast | None:
        """The condition of the table's row that rejects one more: what a preflight says and an `up` meets is one."""
        kind = COUNTED[counted]
        rows = self._cloud.table.refusals_of(kind, "create")
        return next((row.when for row in rows if isinstance(row.when, AtLeast) and row.when.type == kind), None)

    def _is_here(self, resource: SimulatedResource) -> bool:
        """Whether a resource lies in the region that is asked about: quotas are a region's own."""
        return resource.view.get("region") == self._region

    def _instances(self, market: str) -> Iterator[tuple[str, int]]:
        """Type and number of what counts: nodes of other stacks, and on demand every reservation, used or not."""
        for group in filter(self._is_here, self._cloud.store.resources(NODE_GROUP)):
            wanted = _MARKETS.get(coerce.text(group.inputs, "capacityType", "ON_DEMAND"))
            types = coerce.texts(group.inputs, "instanceTypes")
            if types and wanted == market and f":{self._stack}::" not in group.urn and not self._reserved(group):
                yield types[0], coerce.whole(coerce.mapping(group.inputs, "scalingConfig"), "desiredSize", 0)
        if market == "on-demand":
            reserved = filter(self._is_here, self._cloud.store.resources(RESERVATION))
            # A capacity block counts against no quota.
            for held in (each for each in reserved if _kind(each) != BLOCK):
                yield coerce.text(held.inputs, "instanceType"), coerce.whole(held.inputs, "instanceCount", 0)

    def _reserved(self, group: SimulatedResource) -> bool:
        """Whether the nodes of a group run in a reservation, which has been counted."""
        template = coerce.text(coerce.mapping(group.inputs, "launchTemplate"), "id")
        found = self._cloud.store.find(template, ()) if template else []
        return any(each.inputs.get("capacityReservationSpecification") for each in found)

    def _quota(self, family: str, market: str) -> Mapping[str, str | int] | None:
        said = (each for each in self._quotas() if (each["family"], each["market"]) == (family, market))
        return next(said, None)

    def _quotas(self) -> list[dict[str, str | int]]:
        found: list[dict[str, str | int]] = json.loads(self._cloud.store.fact(QUOTAS) or "[]")
        return found
