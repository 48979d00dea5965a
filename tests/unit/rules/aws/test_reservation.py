"""Cases of gpufleet.rules.aws.reservation."""

from gpufleet.rules.aws.reservation import reservation_market, reservation_usable

ID = "cr-0123456789abcdef0"


def pool(found, most=16, types=("p5.48xlarge",), zones=("use1-az2",)):
    return {"reservation_id": ID, "types": types, "zones": zones, "most": most, "found": found}


def held(state="active", free=16, total=16, kind="p5.48xlarge", zone="use1-az2"):
    return {"type": kind, "zone": zone, "state": state, "free": free, "total": total}


def market(capacity, kind="capacity-block"):
    return {"reservation_id": ID, "capacity": capacity, "kind": kind}


CASES = {
    reservation_market: [
        ("a-block", market("capacity-block"), "pass", ""),
        ("no-block", market("reservation", "default"), "pass", ""),
        (
            "a-block-as-a-reservation",
            market("reservation"),
            "fail",
            f"trainers: capacity=reservation: {ID} is a capacity block, and instances of another market cannot start "
            "in it; set capacity=capacity-block, or give the id of another reservation [aws-reservation-market]",
        ),
    ],
    reservation_usable: [
        ("exactly-enough", pool(held()), "pass", ""),
        (
            "one-short",
            pool(held(free=15, total=20)),
            "fail",
            (
                f"trainers: max=16: {ID} has room for 15 of its 20; set max to 15, or enlarge the reservation to 21 "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "not-there",
            pool({}),
            "fail",
            (
                f"trainers: reservation_id={ID}: the account holds no such reservation in this region, nor is one "
                "shared with it; look with `aws ec2 describe-capacity-reservations`, and give the id of one "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "expired",
            pool(held("expired")),
            "fail",
            (
                f"trainers: reservation_id={ID}: is expired; make a reservation that is active, or renew it "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "another-type",
            pool(held(kind="p4d.24xlarge")),
            "fail",
            (
                f"trainers: types=[p5.48xlarge]: {ID} is of p4d.24xlarge; use p4d.24xlarge, or another reservation "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "another-zone",
            pool(held(zone="use1-az4")),
            "fail",
            (
                f"trainers: zones=[use1-az2]: {ID} is in use1-az4; use use1-az4, or another reservation "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "not-yet",
            pool(held("scheduled", free=0)),
            "unverified",
            (
                f"trainers: reservation_id={ID}: not verified: is scheduled, and nodes cannot start before it is "
                "active; keep min and desired at 0 until then; look with `aws ec2 describe-capacity-reservations` "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "not-yet-and-of-another-type",
            pool(held("scheduled", kind="p4d.24xlarge")),
            "fail",
            (
                f"trainers: types=[p5.48xlarge]: {ID} is of p4d.24xlarge; use p4d.24xlarge, or another reservation "
                "[aws-reservation-usable]"
            ),
        ),
        (
            "unknown",
            pool(None),
            "unverified",
            (
                f"trainers: reservation_id={ID}: not verified: what the account holds of this reservation is not "
                "known; look with `aws ec2 describe-capacity-reservations` [aws-reservation-usable]"
            ),
        ),
        (
            "max-unknown",
            pool(held(), most=None),
            "unverified",
            (
                f"trainers: max=null: not verified: {ID} has room for 16, and max is not known; give max "
                "[aws-reservation-usable]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
