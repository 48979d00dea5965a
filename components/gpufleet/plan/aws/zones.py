"""Where on AWS a resource of a plan lies: zones of subnets, and regions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpufleet.catalog import aws
from gpufleet.plan.property_values import get_path, items, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

SUBNET = "aws:ec2/subnet:Subnet"
ZoneNames = Mapping[str, str]
"""Zone id -> this account's name for it."""


@dataclass(frozen=True)
class PoolZones:
    """Zones of something that lies in subnets.

    ids: zone ids, each once; None where not all are known. places: different zones that are known, by id or by name.
    subnets: those of the plan. all_here: whether these are all.
    """

    ids: Sequence[str] | None
    places: Sequence[str]
    subnets: Sequence[Resource]
    all_here: bool


def zone_of_subnet(subnet: Resource, zone_names: ZoneNames) -> str | None:
    """The zone of a subnet: its id, else its name, None if neither is known."""
    named = value_of(subnet, "availabilityZoneId")
    if isinstance(named, str):
        return named
    return zone_by_name(value_of(subnet, "availabilityZone"), zone_names)


def zone_by_name(name: object, zone_names: ZoneNames) -> str | None:
    """The id of a zone that a program calls by its name; the name itself where the account's map does not say."""
    if not isinstance(name, str):
        return None
    return next((zone for zone, its_name in zone_names.items() if its_name == name), name)


def zones_of(plan: Plan, resource: Resource, name: str, path: Sequence[str], zone_names: ZoneNames) -> PoolZones:
    """Zones of the subnets that a property lists. `path`: where in the property the list is.

    A value may also have waited for subnets that are not in it, so that as many must be known as are listed.
    """
    listed = items(get_path(value_of(resource, name), *path))
    subnets = plan.behind(resource, name, SUBNET)
    found = [zone_of_subnet(each, zone_names) for each in subnets]
    # Sorted, because the engine gives what a value was made from in any order.
    known = sorted({zone for zone in found if zone})
    all_here = len(subnets) == len(listed) > 0
    whole = all_here and None not in found
    if len(subnets) > len(listed):
        # Which of them it is cannot be told, unless they all lie in one zone.
        known = known if len(known) == 1 and None not in found and listed else []
        whole = bool(known)
    ids = [zone for zone in known if is_zone_id(zone)]
    names = [zone for zone in known if not is_zone_id(zone)]
    return PoolZones(
        ids=ids if whole and not names else None,
        # An id and a name may mean the same zone: only ids are compared with ids, and names with names.
        places=ids if len(ids) >= len(names) else names,
        subnets=subnets,
        all_here=all_here,
    )


def is_zone_id(zone: str) -> bool:
    """Whether a word is not a zone name: names end in a letter, ids such as use1-az1 in a digit."""
    return not zone[-1:].isalpha()


def region_of(resource: Resource, zones: Sequence[str] = ()) -> str | None:
    """The region of a resource: its own, its provider's, or that of the zones (ids or names) it lies in."""
    own = value_of(resource, "region")
    if isinstance(own, str):
        return own
    if resource.provider_region:
        return resource.provider_region
    for zone in zones:
        home = next((region for region, known in aws().regions.items() if zone in known), None)
        if home or zone[:-1] in aws().regions:
            return home or zone[:-1]
    return None


def distinct(values: Sequence[str]) -> list[str]:
    """Each value once, in the order of first appearance."""
    return list(dict.fromkeys(values))


def subnet_gives_addresses(subnets: PoolZones) -> object:
    """Whether nodes get public addresses because their subnets say so; `UNKNOWN` if that cannot be told."""
    switches = [value_of(each, "mapPublicIpOnLaunch") for each in subnets.subnets]
    if any(each is True for each in switches):
        return True
    return UNKNOWN if not subnets.all_here or UNKNOWN in switches else False
