"""Cases of gpufleet.rules.efa."""

from gpufleet.rules.efa import near, one_zone, pool_private, private, same_cards, supported

CASES = {
    supported: [
        ("one", {"network": "efa", "type_name": "g5.8xlarge", "efa_interfaces": 1, "larger": ()}, "pass", ""),
        (
            "none",
            {"network": "efa", "type_name": "g5.4xlarge", "efa_interfaces": 0, "larger": ("g5.8xlarge", "g5.12xlarge")},
            "fail",
            (
                "trainers: types=g5.4xlarge: has no EFA; use g5.8xlarge or g5.12xlarge, or set network=plain "
                "[aws-efa-supported]"
            ),
        ),
        (
            "family-without",
            {"network": "efa", "type_name": "p3.2xlarge", "efa_interfaces": 0, "larger": ()},
            "fail",
            "trainers: types=p3.2xlarge: has no EFA; set network=plain [aws-efa-supported]",
        ),
        ("plain", {"network": "plain", "type_name": "g5.4xlarge", "efa_interfaces": 0, "larger": ()}, "pass", ""),
    ],
    one_zone: [
        ("one", {"network": "efa", "zones": ("use1-az1",)}, "pass", ""),
        (
            "two",
            {"network": "efa", "zones": ("use1-az1", "use1-az2")},
            "fail",
            (
                "trainers: zones=[use1-az1, use1-az2]: EFA traffic does not cross zones; keep one zone, or make a "
                "pool for each [aws-efa-one-zone]"
            ),
        ),
        ("plain", {"network": "plain", "zones": ("use1-az1", "use1-az2")}, "pass", ""),
    ],
    same_cards: [
        (
            "same",
            {
                "network": "efa",
                "types": ("g5.8xlarge", "g5.12xlarge"),
                "layouts": ("1 EFA interface", "1 EFA interface"),
            },
            "pass",
            "",
        ),
        (
            "different",
            {
                "network": "efa",
                "types": ("g6e.24xlarge", "g6e.48xlarge"),
                "layouts": ("2 EFA interfaces", "4 EFA interfaces"),
            },
            "fail",
            (
                "trainers: types=[g6e.24xlarge, g6e.48xlarge]: has types with 2 EFA interfaces and 4 EFA "
                "interfaces in one launch template; make a pool for each, or set network=plain "
                "[aws-efa-same-cards]"
            ),
        ),
        (
            "plain",
            {
                "network": "plain",
                "types": ("g6e.24xlarge", "g6e.48xlarge"),
                "layouts": ("2 EFA interfaces", "4 EFA interfaces"),
            },
            "pass",
            "",
        ),
    ],
    private: [
        ("one", {"public_addresses": True, "type_name": "g5.8xlarge", "interfaces": 1}, "pass", ""),
        (
            "two",
            {"public_addresses": True, "type_name": "g6e.24xlarge", "interfaces": 2},
            "fail",
            (
                "trainers: public_addresses=true: EC2 gives no public address to g6e.24xlarge with 2 network "
                "interfaces; set public_addresses=false and use a subnet with a NAT gateway [aws-efa-private]"
            ),
        ),
        ("private", {"public_addresses": False, "type_name": "p5.48xlarge", "interfaces": 32}, "pass", ""),
    ],
    near: [
        ("grouped", {"network": "efa", "placement": "create", "capacity": "on-demand"}, "pass", ""),
        (
            "spread",
            {"network": "efa", "placement": "none", "capacity": "on-demand"},
            "fail",
            (
                "trainers: placement=none: nodes may lie far apart in their zone; set placement=create for low "
                "latency [aws-efa-near]"
            ),
        ),
        ("reserved", {"network": "efa", "placement": "none", "capacity": "reservation"}, "pass", ""),
        ("plain", {"network": "plain", "placement": "none", "capacity": "on-demand"}, "pass", ""),
    ],
    pool_private: [
        ("private", {"public_addresses": False}, "pass", ""),
        (
            "public",
            {"public_addresses": True},
            "fail",
            (
                "trainers: public_addresses=true: gives each node an address that the internet can reach; set "
                "public_addresses=false and use a subnet with a NAT gateway [any-pool-private]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
