"""What a plan makes of which an account may hold only so many: addresses, VPCs and their gateways."""

from collections.abc import Mapping
from dataclasses import dataclass

from gpufleet.plan.aws.route_tables import GATEWAY, VPC
from gpufleet.plan.aws.zones import SUBNET, ZoneNames, region_of, zone_of_subnet
from gpufleet.plan.resource import Plan, Resource

COUNTED: Mapping[str, str] = {
    "elastic_ips": "aws:ec2/eip:Eip",
    "vpcs": VPC,
    "internet_gateways": GATEWAY,
    "nat_gateways": "aws:ec2/natGateway:NatGateway",
}
"""Type of each, by its name in the catalog's network quotas."""
_NEW = ("create", "create-replacement")
_NOT_OURS = ("read",)


@dataclass(frozen=True)
class NetworkQuotaDemand:
    """What counts against one quota. zone: id or name of the zone of NAT gateways, "" where the region is what counts.

    new: how many are to be made while the old ones still exist. existing: how many the stack's state has.
    """

    counted: str
    region: str
    zone: str
    new: int
    existing: int


@dataclass(frozen=True)
class NetworkQuotaDemands:
    """needs: those with anything new. unclear: for each new resource whose place is not known at preview, which one
    and what is not known."""

    needs: tuple[NetworkQuotaDemand, ...]
    unclear: tuple[str, ...]


def network_quota_demand(plan: Plan, zone_names: ZoneNames) -> NetworkQuotaDemands:
    """What a plan creates, and what exists of the same kind. zone_names: zone id -> the account's name for it.

    A replacement is new while what it replaces stands, unless that is deleted first: the engine then plans `replace`
    before it plans the new one.
    """
    new: dict[tuple[str, str, str], int] = {}
    existing: dict[tuple[str, str, str], int] = {}
    unclear: list[str] = []
    for counted, kind in COUNTED.items():
        for each in plan.of_type(kind):
            if each.operation in _NOT_OURS:
                continue
            region = region_of(each)
            zone = _zone(plan, each, zone_names) if counted == "nat_gateways" else ""
            if region is None or zone is None:
                if each.operation in _NEW:
                    unclear.append(f"{each.name}: the {'zone' if region else 'region'} is not known at preview")
                continue
            key = (counted, region, zone)
            new[key] = new.get(key, 0) + (each.operation in _NEW)
            existing[key] = existing.get(key, 0) + (each.operation != "create")
    return NetworkQuotaDemands(
        tuple(NetworkQuotaDemand(*key, number, existing[key]) for key, number in new.items() if number), tuple(unclear)
    )


def _zone(plan: Plan, gateway: Resource, zone_names: ZoneNames) -> str | None:
    """The one zone that a NAT gateway's subnet lies in, None where that is not known."""
    zones = {zone_of_subnet(each, zone_names) for each in plan.behind(gateway, "subnetId", SUBNET)}
    return zones.pop() if len(zones) == 1 else None
