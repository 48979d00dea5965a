"""Rules on how capacity is bought: on demand, Spot, by reservation, by block."""

import re
from collections.abc import Sequence

from gpufleet.rules.messages import join_words
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

CAPACITIES = ("on-demand", "spot", "reservation", "capacity-block")
_RESERVED = ("reservation", "capacity-block")
_ID = re.compile(r"cr-([0-9a-f]{8}|[0-9a-f]{17})")


@rule("any-capacity-id-given", Severity.ERROR)
def id_given(*, capacity: str, reservation_id: str) -> Outcome:
    """A reservation is named exactly if the capacity is reserved.

    Source: EC2 launch templates target a reservation by its id; without one any open reservation, or none, is used.
    """
    if (capacity in _RESERVED) is bool(reservation_id):
        return passed()
    if reservation_id:
        fix = "set capacity=reservation or capacity=capacity-block, or leave reservation_id out"
        return failed("reservation_id", reservation_id, f"is not used with capacity={capacity}", fix)
    return failed("capacity", capacity, "does not say which one", "set reservation_id to its id (cr-...)")


@rule("aws-capacity-id-form", Severity.ERROR)
def id_form(*, reservation_id: str) -> Outcome:
    """The id of a capacity reservation or capacity block is cr- and 17 (once 8) hexadecimal digits.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
    """
    if not reservation_id or _ID.fullmatch(reservation_id):
        return passed()
    fix = "give the id that aws ec2 describe-capacity-reservations shows, such as cr-0123456789abcdef0"
    return failed("reservation_id", reservation_id, "is not the id of a capacity reservation", fix)


@rule("aws-capacity-one-place", Severity.ERROR)
def one_place(*, capacity: str, argument: str, values: Sequence[str]) -> Outcome:
    """Reserved capacity has one instance type and one zone; `argument` is types or zones.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateCapacityReservation.html: InstanceType and
    AvailabilityZone are one each; terraform ReservationCapacityExceeded (scylladb/scylla-cluster-tests#8839).
    """
    if capacity not in _RESERVED or len(values) < 2:
        return passed()
    what = "a capacity block" if capacity == "capacity-block" else "a reservation"
    problem = f"{what} is of one type and in one zone"
    return failed(argument, list(values), problem, f"keep the one of its {argument}, or make a pool for each")


@rule("aws-capacity-block-sold", Severity.ERROR)
def block_sold(*, capacity: str, type_name: str, sold: bool, others: Sequence[str]) -> Outcome:
    """Capacity Blocks are sold for the instance type.

    Source: SupportedUsageClasses of DescribeInstanceTypes, as the catalog has it.
    """
    if capacity != "capacity-block" or sold:
        return passed()
    fix = f"use {join_words(others)}, or another capacity"
    return failed("types", type_name, "is not sold in capacity blocks", fix)


@rule("any-capacity-spot-choice", Severity.WARNING)
def spot_choice(*, capacity: str, types: Sequence[str], zones: Sequence[str]) -> Outcome:
    """A Spot pool has a choice of types or zones.

    Source: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-best-practices.html: be flexible about instance
    types and Availability Zones; one type in one zone means InsufficientInstanceCapacity.
    """
    if capacity != "spot" or len(types) > 1 or len(zones) > 1:
        return passed()
    problem = "Spot capacity of one type in one zone is often not available"
    return failed("types", list(types), problem, "give more types, or more zones for jobs of one node")
