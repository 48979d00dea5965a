"""Cases of gpufleet.rules.aws.subnet_plan."""

from gpufleet.rules.aws.subnet_plan import cidr_large_enough, max_zones_legal

CASES = {
    max_zones_legal: [
        ("equal", {"max_zones": 3, "zones": 3}, "pass", ""),
        (
            "one-too-few",
            {"max_zones": 2, "zones": 3},
            "fail",
            "trainers: max_zones=2: the address plan keeps no room for 3 zones; use 3 to 7 [aws-network-max-zones]",
        ),
        ("most", {"max_zones": 7, "zones": 3}, "pass", ""),
        (
            "beyond",
            {"max_zones": 8, "zones": 3},
            "fail",
            "trainers: max_zones=8: is more than any region has; use 3 to 7 [aws-network-max-zones]",
        ),
        (
            "zero",
            {"max_zones": 0, "zones": 0},
            "fail",
            "trainers: max_zones=0: is more than any region has; use 1 to 7 [aws-network-max-zones]",
        ),
        (
            "eight-zones",
            {"max_zones": 8, "zones": 8},
            "fail",
            "trainers: zones=8: are too many zones for one network; name at most 7 [aws-network-max-zones]",
        ),
    ],
    cidr_large_enough: [
        ("large", {"cidr": "10.0.0.0/16", "max_zones": 3}, "pass", ""),
        ("at-limit", {"cidr": "10.0.0.0/24", "max_zones": 3}, "pass", ""),
        (
            "too-small",
            {"cidr": "10.0.0.0/27", "max_zones": 3},
            "fail",
            (
                "trainers: cidr=10.0.0.0/27: has no room for the subnets of 3 zones; use at least a /24, better a "
                "/16: every pod takes an address [aws-network-address-plan]"
            ),
        ),
        ("not-a-range-is-another-rule", {"cidr": "big", "max_zones": 3}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
