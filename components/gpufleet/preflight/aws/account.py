"""A real AWS account, asked with the credentials in use. Reads only."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from gpufleet.aws.client import AwsClient, AwsClientError
from gpufleet.catalog import aws
from gpufleet.catalog.quota_family import family_of
from gpufleet.preflight.aws.facts import CapacityReservation, ExistingResources, PlacementGroup

SECONDS = 10.0
"""How long one answer may take, and how long a connection: a preflight is run by hand, and before every merge."""
ATTEMPTS = 3

_COUNTED = ["pending", "active", "assessing", "scheduled", "delayed"]
"""States of a capacity reservation that counts against the on-demand quota, used or not. Source:
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-reservations.html, quotas."""

_NETWORK = {
    "elastic_ips": ("describe_addresses", "Addresses[]"),
    "vpcs": ("describe_vpcs", "Vpcs[]"),
    "internet_gateways": ("describe_internet_gateways", "InternetGateways[]"),
}
"""The call and its answer that list what counts against a quota of the region."""
_SHARED = ("vpcs",)
"""What other accounts may share with this one: it counts against their quotas."""
_NAT_COUNTED = ["pending", "available", "deleting"]
"""States of a NAT gateway that counts; a failed one does not. Source:
https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html, NAT gateways per Availability Zone."""


class AwsAccount:
    """One account, seen in one region; see `gpufleet.preflight.aws.facts.AwsFacts`.

    stack: instances tagged `environment` = stack are the stack's own, and count by what the plan says they may become.
    profile: boto3's own default when None.
    """

    def __init__(self, region: str, stack: str, profile: str | None = None) -> None:
        self._account = AwsClient(region, profile, seconds=SECONDS, attempts=ATTEMPTS)
        self._stack = stack
        self._silent: dict[str, AwsClientError] = {}

    def _ask(self, service: str, call: str, answer: str, **arguments: object) -> list[Any]:
        """See `AwsClient.ask`. A service that cannot be reached is not tried again: each attempt takes seconds."""
        if service in self._silent:
            raise self._silent[service]
        try:
            return self._account.ask(service, call, answer, **arguments)
        except AwsClientError as error:
            # What AWS rejects has an answer, and concerns this call alone.
            from botocore.exceptions import ClientError

            if not isinstance(error.__cause__, ClientError):
                self._silent[service] = error
            raise

    def zone_names(self) -> Mapping[str, str]:
        zones = self._ask("ec2", "describe_availability_zones", "AvailabilityZones[].[ZoneId, ZoneName]")
        return dict(zones)

    def zones_with(self, types: Sequence[str]) -> Mapping[str, Sequence[str]]:
        wanted = sorted(set(types))
        offers = self._ask(
            "ec2",
            "describe_instance_type_offerings",
            "InstanceTypeOfferings[].[InstanceType, Location]",
            LocationType="availability-zone-id",
            Filters=[{"Name": "instance-type", "Values": wanted}],
        )
        return {name: sorted(zone for offered, zone in offers if offered == name) for name in wanted}

    def limit(self, family: str, market: str) -> int | None:
        record = aws().quotas.get((family, market))
        return None if record is None else self._quota("ec2", record.code)

    def _quota(self, service: str, code: str) -> int | None:
        # An account that never had another value than AWS's default may have no quota of its own yet.
        for call in ("get_service_quota", "get_aws_default_service_quota"):
            values = self._ask("service-quotas", call, "[Quota.Value]", ServiceCode=service, QuotaCode=code)
            if values and values[0] is not None:
                return int(values[0])
        return None

    def in_use(self, market: str) -> Mapping[str, int]:
        used: dict[str, int] = {}
        for instance in self._running:
            family = _family(instance["InstanceType"])
            if family is not None and _market(instance) == market and not self._is_own(instance):
                counted = family_of(instance["InstanceType"], family, market)
                used[counted] = used.get(counted, 0) + _vcpus(instance)
        for held in self._reservations if market == "on-demand" else ():
            family = _family(held["InstanceType"])
            if family is not None and held["Own"] and _counts(held):
                # The rest of it runs, and has been counted.
                unused = int(held["AvailableInstanceCount"]) * vcpus_of(held["InstanceType"])
                used[family] = used.get(family, 0) + unused
        return used

    def reservation(self, reservation_id: str) -> CapacityReservation | None:
        held = next((each for each in self._reservations if each["CapacityReservationId"] == reservation_id), None)
        if held is None:
            return None
        own = sum(1 for each in self._inside(reservation_id) if self._is_tagged(each))
        return CapacityReservation(
            type=held["InstanceType"],
            zone=held["AvailabilityZoneId"],
            state=held["State"],
            free=held["AvailableInstanceCount"] + own,
            total=held["TotalInstanceCount"],
            kind=held.get("ReservationType", "default"),
        )

    def placement_group(self, name: str) -> PlacementGroup | None:
        # By a filter: a name that is not there is then an empty answer, and no error.
        found = self._ask(
            "ec2",
            "describe_placement_groups",
            "PlacementGroups[].[Strategy, State]",
            Filters=[{"Name": "group-name", "Values": [name]}],
        )
        return PlacementGroup(*found[0]) if found else None

    def resource_limit(self, counted: str) -> int | None:
        record = aws().resource_quotas[counted]
        return self._quota(record.service, record.code)

    def network_use(self, counted: str) -> Mapping[str, ExistingResources]:
        if counted == "nat_gateways":
            return self._nat_gateways()
        account = self._ask("sts", "get_caller_identity", "[Account]")[0] if counted in _SHARED else None
        call, answer = _NETWORK[counted]
        held = self._ask("ec2", call, answer)
        return {"": self._held(each for each in held if account is None or each.get("OwnerId", account) == account)}

    def _nat_gateways(self) -> Mapping[str, ExistingResources]:
        """By zone id, which only their subnets tell."""
        counting = [{"Name": "state", "Values": _NAT_COUNTED}]
        gateways = self._ask("ec2", "describe_nat_gateways", "NatGateways[]", Filter=counting)
        subnets = sorted({each["SubnetId"] for each in gateways if each.get("SubnetId")})
        zones: dict[str, str] = {}
        if subnets:
            asked = [{"Name": "subnet-id", "Values": subnets}]
            answer = "Subnets[].[SubnetId, AvailabilityZoneId]"
            zones = dict(self._ask("ec2", "describe_subnets", answer, Filters=asked))
        by_zone: dict[str, list[Mapping[str, Any]]] = {}
        for each in gateways:
            by_zone.setdefault(zones.get(each.get("SubnetId", ""), ""), []).append(each)
        return {zone: self._held(those) for zone, those in by_zone.items()}

    def _held(self, things: Iterable[Mapping[str, Any]]) -> ExistingResources:
        own = [self._is_tagged(each) for each in things]
        return ExistingResources(sum(own), len(own) - sum(own))

    @cached_property
    def _running(self) -> list[dict[str, Any]]:
        """Instances that count: those that are pending, stopping or stopped do not. Source:
        https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-on-demand-instances.html, quotas."""
        return self._ask(
            "ec2",
            "describe_instances",
            "Reservations[].Instances[]",
            Filters=[{"Name": "instance-state-name", "Values": ["running"]}],
        )

    @cached_property
    def _reservations(self) -> list[dict[str, Any]]:
        """Capacity reservations and blocks, those shared with this account too; Own: whether they are its own."""
        account = self._ask("sts", "get_caller_identity", "[Account]")
        held = self._ask("ec2", "describe_capacity_reservations", "CapacityReservations[]")
        return [each | {"Own": each.get("OwnerId", account[0]) == account[0]} for each in held]

    def _inside(self, reservation_id: str) -> list[dict[str, Any]]:
        return [each for each in self._running if each.get("CapacityReservationId") == reservation_id]

    def _is_tagged(self, thing: Mapping[str, Any]) -> bool:
        return any(tag == {"Key": "environment", "Value": self._stack} for tag in thing.get("Tags", []))

    def _is_own(self, instance: Mapping[str, Any]) -> bool:
        """Whether the plan's peak has it already. Pools on reservations have none: their instances stay counted."""
        return self._is_tagged(instance) and not instance.get("CapacityReservationId")


def vcpus_of(type_name: str) -> int:
    """vCPUs of one instance of a GPU type.

    Errors: AwsClientError for a type that the catalog does not know; what it uses would else be counted as nothing.
    """
    record = aws().types.get(type_name)
    if record is None:
        raise AwsClientError(
            f"{type_name}: not in the catalog, so that its vCPUs are not known; gpufleet catalog refresh"
        )
    return record.vcpus


def _vcpus(instance: Mapping[str, Any]) -> int:
    """vCPUs that an instance counts for: its type's, or where the catalog has none what it was started with."""
    options = instance.get("CpuOptions") or {}
    if instance["InstanceType"] not in aws().types and options:
        return int(options["CoreCount"]) * int(options["ThreadsPerCore"])
    return vcpus_of(instance["InstanceType"])


def _market(instance: Mapping[str, Any]) -> str:
    """on-demand, spot, or what counts against neither: instances in capacity blocks."""
    return {None: "on-demand", "spot": "spot"}.get(instance.get("InstanceLifecycle"), "other")


def _counts(held: Mapping[str, Any]) -> bool:
    """Whether a reservation counts against the on-demand quota; capacity blocks have their own quotas."""
    return held["State"] in _COUNTED and held.get("ReservationType") != "capacity-block"


def _family(type_name: str) -> str | None:
    """The on-demand quota family of a GPU type, known to the catalog or not; None for all other types."""
    record = aws().types.get(type_name)
    if record is not None:
        return record.quota_family
    return "P" if re.match(r"p\d", type_name) else "G and VT" if re.match(r"(gr?|vt)\d", type_name) else None
