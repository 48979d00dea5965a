"""The rule on a capacity reservation that a pool aims at, as the account holds it."""

from collections.abc import Mapping, Sequence

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

USABLE = "active"
BLOCK = "capacity-block"
"""A capacity block: how EC2 calls such a reservation, and its market."""
COMING = ("scheduled", "pending", "assessing", "delayed", "payment-pending")
"""States of a reservation that has not begun; https://docs.aws.amazon.com/AWSEC2/latest/APIReference/
API_CapacityReservation.html lists all."""
_LOOK = "look with `aws ec2 describe-capacity-reservations`"


@rule("aws-reservation-usable", Severity.ERROR)
def reservation_usable(
    *,
    reservation_id: str,
    types: Sequence[str],
    zones: Sequence[str],
    most: int | None,
    found: Mapping[str, object] | None,
) -> Outcome:
    """The reservation of a pool exists, is active, has the pool's type and zone, and has room for all its nodes.

    `found` is what the account says of it: type, zone (id), state, free (instances left, those that this stack runs in
    it counted as free) and total; {} if it holds none of that id, None where nobody knows.

    Source: terraform ReservationCapacityExceeded (scylladb/scylla-cluster-tests#8839), and
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
    """
    if found is None:
        problem = "what the account holds of this reservation is not known"
        return unverified("reservation_id", reservation_id, problem, _LOOK)
    if not found:
        problem = "the account holds no such reservation in this region, nor is one shared with it"
        return failed("reservation_id", reservation_id, problem, f"{_LOOK}, and give the id of one")
    state, kind, zone, free = found["state"], str(found["type"]), str(found["zone"]), found["free"]
    if state != USABLE and state not in COMING:
        return failed("reservation_id", reservation_id, f"is {state}", "make a reservation that is active, or renew it")
    if any(name != kind for name in types):
        return failed("types", list(types), f"{reservation_id} is of {kind}", f"use {kind}, or another reservation")
    if any(name != zone for name in zones):
        return failed("zones", list(zones), f"{reservation_id} is in {zone}", f"use {zone}, or another reservation")
    if state in COMING:
        problem = f"is {state}, and nodes cannot start before it is active"
        return unverified("reservation_id", reservation_id, problem, f"keep min and desired at 0 until then; {_LOOK}")
    if most is None:
        return unverified("max", None, f"{reservation_id} has room for {free}, and max is not known", "give max")
    if not isinstance(free, int) or free < most:
        fix = f"set max to {free}, or enlarge the reservation to {_enlarged(found, most)}"
        return failed("max", most, f"{reservation_id} has room for {free} of its {found['total']}", fix)
    return passed()


@rule("aws-reservation-market", Severity.ERROR)
def reservation_market(*, reservation_id: str, capacity: str, kind: str) -> Outcome:
    """A pool that runs in a capacity block buys its capacity as one.

    `kind` is what the account says that the reservation is: default or capacity-block.

    Source: terraform-aws-modules/terraform-aws-ec2-instance#404 (InvalidParameterValue: The market type (purchasing)
    option is not valid, at launch); ReservationType of
    https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CapacityReservation.html
    """
    if kind != BLOCK or capacity == BLOCK:
        return passed()
    problem = f"{reservation_id} is a capacity block, and instances of another market cannot start in it"
    return failed("capacity", capacity, problem, f"set capacity={BLOCK}, or give the id of another reservation")


def _enlarged(found: Mapping[str, object], most: int) -> object:
    """The total that would have room for all nodes beside what others run in it."""
    total, free = found["total"], found["free"]
    return total + most - free if isinstance(total, int) and isinstance(free, int) else most
