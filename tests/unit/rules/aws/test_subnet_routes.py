"""Cases of gpufleet.rules.aws.subnet_routes."""

from gpufleet.rules.aws.subnet_routes import subnet_way_out

CASES = {
    subnet_way_out: [
        ("nat", {"subnet": "private", "way": "nat", "public_addresses": False}, "pass", ""),
        ("endpoints", {"subnet": "private", "way": "endpoints", "public_addresses": None}, "pass", ""),
        ("public", {"subnet": "public", "way": "internet", "public_addresses": True}, "pass", ""),
        (
            "no-addresses",
            {"subnet": "public", "way": "internet", "public_addresses": False},
            "fail",
            (
                "trainers: subnet_ids=public: its default route is an internet gateway, which nodes without "
                "public addresses cannot use; route 0.0.0.0/0 to a NAT gateway, or add interface endpoints for "
                "ec2, ecr.api, ecr.dkr, eks and sts [aws-subnet-way-out]"
            ),
        ),
        (
            "addresses-unclear",
            {"subnet": "public", "way": "internet", "public_addresses": None},
            "unverified",
            (
                "trainers: subnet_ids=public: not verified: whether nodes get out of it is not known from the "
                "program; route 0.0.0.0/0 to a NAT gateway, or add interface endpoints for ec2, ecr.api, "
                "ecr.dkr, eks and sts [aws-subnet-way-out]"
            ),
        ),
        (
            "nowhere",
            {"subnet": "private", "way": "nowhere", "public_addresses": True},
            "fail",
            (
                "trainers: subnet_ids=private: has no default route, so that nodes never join; route 0.0.0.0/0 "
                "to a NAT gateway, or add interface endpoints for ec2, ecr.api, ecr.dkr, eks and sts "
                "[aws-subnet-way-out]"
            ),
        ),
        (
            "closed-nat",
            {"subnet": "private", "way": "closed-nat", "public_addresses": False},
            "fail",
            (
                "trainers: subnet_ids=private: its NAT gateway lies in a subnet without a route to an internet "
                "gateway, so that nodes never join; put the NAT gateway into a public subnet [aws-subnet-way-out]"
            ),
        ),
        (
            "unclear",
            {"subnet": "private", "way": None, "public_addresses": False},
            "unverified",
            (
                "trainers: subnet_ids=private: not verified: whether nodes get out of it is not known from the"
                " program; route 0.0.0.0/0 to a NAT gateway, or add interface endpoints for ec2, ecr.api, "
                "ecr.dkr, eks and sts [aws-subnet-way-out]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
