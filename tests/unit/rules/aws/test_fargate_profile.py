"""Cases of gpufleet.rules.aws.fargate_profile."""

from gpufleet.rules.aws.fargate_profile import subnet_private

CASES = {
    subnet_private: [
        ("nat", {"subnet": "a", "way": "nat"}, "pass", ""),
        ("nowhere", {"subnet": "a", "way": "nowhere"}, "pass", ""),
        (
            "public",
            {"subnet": "a", "way": "internet"},
            "fail",
            "trainers: subnet_ids=a: is a public subnet, and Fargate takes private ones only; use a subnet whose "
            "default route is a NAT gateway [aws-fargate-subnet-private]",
        ),
        (
            "not-known",
            {"subnet": "a", "way": None},
            "unverified",
            "trainers: subnet_ids=a: not verified: the program does not show where its default route leads; use a "
            "subnet whose default route is a NAT gateway [aws-fargate-subnet-private]",
        ),
    ],
}


def test_case(case):
    case.check()
