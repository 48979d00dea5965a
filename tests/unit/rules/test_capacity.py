"""Cases of gpufleet.rules.capacity."""

from gpufleet.rules.capacity import block_sold, id_form, id_given, one_place, spot_choice

CASES = {
    id_given: [
        ("reservation", {"capacity": "reservation", "reservation_id": "cr-0123456789abcdef0"}, "pass", ""),
        (
            "missing",
            {"capacity": "reservation", "reservation_id": ""},
            "fail",
            (
                "trainers: capacity=reservation: does not say which one; set reservation_id to its id (cr-...) "
                "[any-capacity-id-given]"
            ),
        ),
        (
            "block-missing",
            {"capacity": "capacity-block", "reservation_id": ""},
            "fail",
            (
                "trainers: capacity=capacity-block: does not say which one; set reservation_id to its id (cr-...) "
                "[any-capacity-id-given]"
            ),
        ),
        (
            "unused",
            {"capacity": "spot", "reservation_id": "cr-0123456789abcdef0"},
            "fail",
            (
                "trainers: reservation_id=cr-0123456789abcdef0: is not used with capacity=spot; set "
                "capacity=reservation or capacity=capacity-block, or leave reservation_id out "
                "[any-capacity-id-given]"
            ),
        ),
        ("on-demand", {"capacity": "on-demand", "reservation_id": ""}, "pass", ""),
    ],
    id_form: [
        ("seventeen-digits", {"reservation_id": "cr-0123456789abcdef0"}, "pass", ""),
        ("eight-digits", {"reservation_id": "cr-0123abcd"}, "pass", ""),
        (
            "sixteen-digits",
            {"reservation_id": "cr-0123456789abcdef"},
            "fail",
            (
                "trainers: reservation_id=cr-0123456789abcdef: is not the id of a capacity reservation; give the "
                "id that aws ec2 describe-capacity-reservations shows, such as cr-0123456789abcdef0 "
                "[aws-capacity-id-form]"
            ),
        ),
        (
            "other-thing",
            {"reservation_id": "cb-0123456789abcdef0"},
            "fail",
            (
                "trainers: reservation_id=cb-0123456789abcdef0: is not the id of a capacity reservation; give the "
                "id that aws ec2 describe-capacity-reservations shows, such as cr-0123456789abcdef0 "
                "[aws-capacity-id-form]"
            ),
        ),
        ("none", {"reservation_id": ""}, "pass", ""),
    ],
    one_place: [
        ("one", {"capacity": "reservation", "argument": "zones", "values": ("use1-az1",)}, "pass", ""),
        (
            "two-zones",
            {"capacity": "reservation", "argument": "zones", "values": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: zones=[use1-az1, use1-az2]: a reservation is of one type and in one zone; keep the one "
                "of its zones, or make a pool for each [aws-capacity-one-place]"
            ),
        ),
        (
            "two-types",
            {"capacity": "capacity-block", "argument": "types", "values": ("p5.48xlarge", "p5en.48xlarge")},
            "fail",
            (
                "trainers: types=[p5.48xlarge, p5en.48xlarge]: a capacity block is of one type and in one zone; "
                "keep the one of its types, or make a pool for each [aws-capacity-one-place]"
            ),
        ),
        ("on-demand", {"capacity": "on-demand", "argument": "zones", "values": ("use1-az1", "use1-az2")}, "pass", ""),
    ],
    block_sold: [
        (
            "sold",
            {"capacity": "capacity-block", "type_name": "p5.48xlarge", "sold": True, "others": ("p5.48xlarge",)},
            "pass",
            "",
        ),
        (
            "not-sold",
            {
                "capacity": "capacity-block",
                "type_name": "g5.8xlarge",
                "sold": False,
                "others": ("p4d.24xlarge", "p5.48xlarge"),
            },
            "fail",
            (
                "trainers: types=g5.8xlarge: is not sold in capacity blocks; use p4d.24xlarge or p5.48xlarge, or "
                "another capacity [aws-capacity-block-sold]"
            ),
        ),
        ("on-demand", {"capacity": "on-demand", "type_name": "g5.8xlarge", "sold": False, "others": ()}, "pass", ""),
    ],
    spot_choice: [
        ("two-types", {"capacity": "spot", "types": ("g6e.xlarge", "g6e.2xlarge"), "zones": ("use1-az1",)}, "pass", ""),
        ("two-zones", {"capacity": "spot", "types": ("g6e.xlarge",), "zones": ("use1-az1", "use1-az2")}, "pass", ""),
        (
            "no-choice",
            {"capacity": "spot", "types": ("g6e.xlarge",), "zones": ("use1-az1",)},
            "fail",
            (
                "trainers: types=[g6e.xlarge]: Spot capacity of one type in one zone is often not available; give "
                "more types, or more zones for jobs of one node [any-capacity-spot-choice]"
            ),
        ),
        ("on-demand", {"capacity": "on-demand", "types": ("g6e.xlarge",), "zones": ("use1-az1",)}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
