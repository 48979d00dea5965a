"""Cases of gpufleet.rules.placement."""

from gpufleet.rules.placement import group_name, group_of_reservation, no_block, one_zone, same_type

CASES = {
    one_zone: [
        ("one", {"placement": "create", "zones": ("use1-az1",)}, "pass", ""),
        (
            "two",
            {"placement": "create", "zones": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: zones=[use1-az1, use1-az2]: a cluster placement group lies in one zone; keep one zone, "
                "or set placement=none [any-placement-one-zone]"
            ),
        ),
        (
            "two-existing",
            {"placement": "existing", "zones": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: zones=[use1-az1, use1-az2]: a cluster placement group lies in one zone; keep one zone, "
                "or set placement=none [any-placement-one-zone]"
            ),
        ),
        ("no-group", {"placement": "none", "zones": ("use1-az1", "use1-az2")}, "pass", ""),
    ],
    same_type: [
        ("one", {"placement": "create", "types": ("p5.48xlarge",)}, "pass", ""),
        (
            "two",
            {"placement": "create", "types": ("g6e.24xlarge", "g6e.12xlarge")},
            "fail",
            (
                "trainers: types=[g6e.24xlarge, g6e.12xlarge]: several types in one cluster placement group make "
                "an insufficient capacity error more likely; keep one type, or set placement=none "
                "[aws-placement-same-type]"
            ),
        ),
        ("no-group", {"placement": "none", "types": ("g6e.24xlarge", "g6e.12xlarge")}, "pass", ""),
    ],
    no_block: [
        ("on-demand", {"placement": "create", "capacity": "on-demand"}, "pass", ""),
        ("spot", {"placement": "create", "capacity": "spot"}, "pass", ""),
        (
            "block",
            {"placement": "create", "capacity": "capacity-block"},
            "fail",
            (
                "trainers: placement=create: a capacity block is delivered only in part into a placement group; "
                "set placement=none [aws-placement-no-block]"
            ),
        ),
        (
            "block-existing",
            {"placement": "existing", "capacity": "capacity-block"},
            "fail",
            (
                "trainers: placement=existing: a capacity block is delivered only in part into a placement group; "
                "set placement=none [aws-placement-no-block]"
            ),
        ),
        (
            "reservation",
            {"placement": "create", "capacity": "reservation"},
            "fail",
            (
                "trainers: placement=create: a reservation that exists already is delivered only in part into a "
                "placement group; set placement=none, or make the reservation in a placement group and set "
                "placement=existing [aws-placement-no-block]"
            ),
        ),
        ("reservation-existing", {"placement": "existing", "capacity": "reservation"}, "pass", ""),
        ("no-group", {"placement": "none", "capacity": "capacity-block"}, "pass", ""),
    ],
    group_of_reservation: [
        (
            "reservation",
            {"placement": "existing", "capacity": "reservation", "group": "ring"},
            "fail",
            (
                "trainers: placement_group=ring: delivers the whole reservation only if it was created in this "
                "group; make sure that it was, or set placement=none [aws-placement-of-reservation]"
            ),
        ),
        ("on-demand", {"placement": "existing", "capacity": "on-demand", "group": "ring"}, "pass", ""),
        ("no-group", {"placement": "none", "capacity": "reservation", "group": ""}, "pass", ""),
    ],
    group_name: [
        ("existing-named", {"placement": "existing", "group": "ring"}, "pass", ""),
        (
            "existing-unnamed",
            {"placement": "existing", "group": ""},
            "fail",
            (
                "trainers: placement=existing: does not say which group; set placement_group to its name "
                "[any-placement-group-name]"
            ),
        ),
        (
            "create-named",
            {"placement": "create", "group": "ring"},
            "fail",
            (
                "trainers: placement_group=ring: is not used with placement=create; set placement=existing to use "
                "it, or leave placement_group out [any-placement-group-name]"
            ),
        ),
        ("none", {"placement": "none", "group": ""}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
