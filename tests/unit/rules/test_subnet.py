"""Cases of gpufleet.rules.subnet."""

from gpufleet.rules import Status
from gpufleet.rules.subnet import nodes_fit, pods_fit, subnet_for_zone, validate_addresses, validate_subnets

CASES = {
    subnet_for_zone: [
        ("given", {"zone": "use1-az1", "zones_with_subnet": ("use1-az2", "use1-az1")}, "pass", ""),
        (
            "none-given",
            {"zone": "use1-az1", "zones_with_subnet": ()},
            "fail",
            (
                "trainers: subnet_ids=[]: there is no subnet in zone use1-az1; give the subnet of use1-az1 "
                "[any-subnet-for-zone]"
            ),
        ),
        (
            "others-given",
            {"zone": "use1-az1", "zones_with_subnet": ("use1-az4", "use1-az2")},
            "fail",
            (
                "trainers: subnet_ids=[use1-az4, use1-az2]: there is no subnet in zone use1-az1; give the subnet of "
                "use1-az1, or use use1-az2 or use1-az4 [any-subnet-for-zone]"
            ),
        ),
    ],
    nodes_fit: [
        ("just-enough", {"cidrs": ("10.0.0.0/28",), "nodes": 11, "interfaces": 1}, "pass", ""),
        (
            "one-more",
            {"cidrs": ("10.0.0.0/28",), "nodes": 12, "interfaces": 1},
            "fail",
            (
                "trainers: max=12: 10.0.0.0/28 has 11 addresses, room for 11 nodes with 1 each; use 11 or "
                "fewer, or larger subnets [aws-subnet-nodes]"
            ),
        ),
        (
            "several-interfaces",
            {
                "cidrs": (
                    "10.0.0.0/28",
                    "10.0.1.0/28",
                ),
                "nodes": 4,
                "interfaces": 4,
            },
            "pass",
            "",
        ),
        (
            "not-split-over-subnets",
            {
                "cidrs": (
                    "10.0.0.0/28",
                    "10.0.1.0/28",
                ),
                "nodes": 5,
                "interfaces": 4,
            },
            "fail",
            (
                "trainers: max=5: 10.0.0.0/28 and 10.0.1.0/28 have 11 and 11 addresses, room for 4 nodes with 4 "
                "each; use 4 or fewer, or larger subnets [aws-subnet-nodes]"
            ),
        ),
        (
            "unreadable",
            {
                "cidrs": (
                    "10.0.0.0/28",
                    "later",
                ),
                "nodes": 11,
                "interfaces": 1,
            },
            "unverified",
            (
                "trainers: max=11: not verified: the range of 10.0.0.0/28 and later cannot be read; give IPv4 "
                "ranges such as 10.0.64.0/18 [aws-subnet-nodes]"
            ),
        ),
    ],
    pods_fit: [
        ("just-enough", {"cidrs": ("10.0.0.0/24",), "nodes": 11, "per_node": 21}, "pass", ""),
        (
            "one-more",
            {"cidrs": ("10.0.0.0/24",), "nodes": 12, "per_node": 21},
            "fail",
            (
                "trainers: max=12: 10.0.0.0/24 has 251 addresses, room for 11 nodes with 21 each; use 11 or "
                "fewer, or larger subnets [aws-subnet-addresses]"
            ),
        ),
        (
            "two-subnets",
            {
                "cidrs": (
                    "10.0.0.0/25",
                    "10.0.0.128/25",
                ),
                "nodes": 11,
                "per_node": 21,
            },
            "fail",
            (
                "trainers: max=11: 10.0.0.0/25 and 10.0.0.128/25 have 123 and 123 addresses, room for 10 nodes "
                "with 21 each; use 10 or fewer, or larger subnets [aws-subnet-addresses]"
            ),
        ),
        (
            "not-known",
            {"cidrs": ("10.0.0.0/24",), "nodes": 12, "per_node": None},
            "unverified",
            (
                "trainers: max=12: not verified: 10.0.0.0/24 has 251 addresses, and how many each node holds "
                "for its pods is not known; look at the VPC CNI's WARM_ENI_TARGET and WARM_IP_TARGET "
                "[aws-subnet-addresses]"
            ),
        ),
        (
            "unreadable",
            {"cidrs": ("10.0.0.1/24",), "nodes": 12, "per_node": 21},
            "unverified",
            (
                "trainers: max=12: not verified: the range of 10.0.0.1/24 cannot be read; give IPv4 ranges such "
                "as 10.0.64.0/18 [aws-subnet-addresses]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


def test_judge_subnets_looks_at_every_zone() -> None:
    args = {"zones": ["use1-az1", "use1-az2"], "subnet_ids": {"use1-az2": object()}}
    assert [each.status for each in validate_subnets(args)] == [Status.FAIL, Status.PASS]


def test_judge_subnets_does_not_raise_on_other_kinds() -> None:
    assert validate_subnets({"zones": 3, "subnet_ids": "x"}) == []
    assert [each.status for each in validate_subnets({"zones": ["a"], "subnet_ids": "x"})] == [Status.FAIL]


def test_judge_addresses_tells_nodes_from_pods() -> None:
    findings = validate_addresses(["10.0.0.0/26"], 4, 21)
    assert {each.rule: each.status for each in findings} == {
        "aws-subnet-nodes": Status.PASS,
        "aws-subnet-addresses": Status.FAIL,
    }
