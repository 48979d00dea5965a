"""Cases of gpufleet.rules.aws.existing_network."""

from gpufleet.rules.aws.existing_network import existing_or_new, existing_subnets_given

CASES = {
    existing_subnets_given: [
        ("all", {"vpc_given": True, "zones": ("use1-az1",), "zones_with_subnet": ("use1-az1",)}, "pass", ""),
        (
            "one-missing",
            {"vpc_given": True, "zones": ("use1-az1", "use1-az2"), "zones_with_subnet": ("use1-az1",)},
            "fail",
            (
                "trainers: private_subnet_ids=[use1-az1]: the existing VPC has no subnet for use1-az2; give a "
                "private subnet for use1-az2, or take it out of zones [aws-network-existing-subnets]"
            ),
        ),
        ("new", {"vpc_given": False, "zones": ("use1-az1",), "zones_with_subnet": ()}, "pass", ""),
    ],
    existing_or_new: [
        ("new", {"vpc_given": False, "given": ("nat",)}, "pass", ""),
        ("existing", {"vpc_given": True, "given": ("private_subnet_ids",)}, "pass", ""),
        (
            "shape-of-existing",
            {"vpc_given": True, "given": ("nat",)},
            "fail",
            (
                "trainers: nat=given: shapes a new VPC and changes nothing in an existing one; remove it or vpc_id "
                "[aws-network-existing-or-new]"
            ),
        ),
        (
            "subnets-without-vpc",
            {"vpc_given": False, "given": ("private_subnet_ids",)},
            "fail",
            (
                "trainers: private_subnet_ids=given: belongs to an existing VPC; give vpc_id as well, or remove it "
                "[aws-network-existing-or-new]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
