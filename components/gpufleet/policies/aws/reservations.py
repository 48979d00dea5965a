"""Pools that aim at a capacity reservation of the same program."""

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws.launch_template import GROUP, LaunchTemplate
from gpufleet.plan.aws.zones import ZoneNames, is_zone_id, zone_by_name
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import number, value_of
from gpufleet.rules import coerce
from gpufleet.rules.aws.reservation import USABLE, reservation_usable
from gpufleet.rules.rule import Finding

RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
_TARGET = "capacityReservationSpecification"


def reservation_of(plan: Plan, template: LaunchTemplate) -> Resource | None:
    """The reservation of the program that a template, or a machine, aims at."""
    holder = template.resource
    found = plan.behind(holder, _TARGET, RESERVATION) if holder else []
    return found[0] if len(found) == 1 else None


def shares_group(plan: Plan, template: LaunchTemplate, reservation: Resource) -> bool:
    """Whether the reservation is made in the placement group that the template puts nodes into."""
    groups = {each.urn for each in plan.behind(reservation, "placementGroupArn", GROUP)}
    used = plan.behind(template.resource, "placement", GROUP) if template.resource else []
    return any(each.urn in groups for each in used)


def validate_reservation(pool: PlannedPool, reservation: Resource, zone_names: ZoneNames) -> list[Finding]:
    """Whether the reservation is of the pool's type and zone, and has room for all its nodes; [] if it does not tell.

    A new reservation is whole: other users of it are not seen from here.
    """
    kind, count = value_of(reservation, "instanceType"), number(value_of(reservation, "instanceCount"))
    zone = zone_by_name(value_of(reservation, "availabilityZone"), zone_names)
    if not isinstance(kind, str) or count is None or zone is None:
        return []
    # An id and a name cannot be compared without the account's map.
    zones = [each for each in pool.places if is_zone_id(each) == is_zone_id(zone)]
    return [
        reservation_usable(
            reservation_id=reservation.name,
            types=coerce.texts(pool.intent, "types"),
            zones=zones,
            most=number(pool.intent.get("max")),
            found={"type": kind, "zone": zone, "state": USABLE, "free": count, "total": count},
        )
    ]
