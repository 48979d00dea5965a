"""Cases of gpufleet.rules.aws.system_nodes."""

from gpufleet.rules.aws.system_nodes import count_in_order, disk_large_enough, subnets_for_nodes, types_are_x86

CASES = {
    count_in_order: [
        ("least", {"least": 1, "desired": 1, "most": 1}, "pass", ""),
        (
            "none",
            {"least": 0, "desired": 0, "most": 1},
            "fail",
            (
                "trainers: system_min=0: leaves no node for DNS and the EFS driver; use at least 1, better 2 "
                "[aws-system-nodes-count]"
            ),
        ),
        (
            "max-below-min",
            {"least": 2, "desired": 2, "most": 1},
            "fail",
            "trainers: system_max=1: is below system_min=2; use at least 2 [aws-system-nodes-count]",
        ),
        (
            "desired-below",
            {"least": 2, "desired": 1, "most": 3},
            "fail",
            "trainers: system_desired=1: is outside system_min and system_max; use 2 to 3 [aws-system-nodes-count]",
        ),
        (
            "desired-above",
            {"least": 2, "desired": 4, "most": 3},
            "fail",
            "trainers: system_desired=4: is outside system_min and system_max; use 2 to 3 [aws-system-nodes-count]",
        ),
    ],
    types_are_x86: [
        ("x86", {"types": ("m7i.large", "c6a.xlarge")}, "pass", ""),
        ("gpu-family", {"types": ("g5.xlarge",)}, "pass", ""),
        (
            "arm",
            {"types": ("m7i.large", "m7g.large")},
            "fail",
            (
                "trainers: system_types=[m7i.large, m7g.large]: m7g.large has an Arm processor; use x86, for "
                "instance m7i.large [aws-system-nodes-types]"
            ),
        ),
        (
            "first-arm",
            {"types": ("a1.large",)},
            "fail",
            (
                "trainers: system_types=[a1.large]: a1.large has an Arm processor; use x86, for instance m7i.large "
                "[aws-system-nodes-types]"
            ),
        ),
        (
            "none",
            {"types": ()},
            "fail",
            (
                "trainers: system_types=[]: names no instance type; name one, for instance m7i.large "
                "[aws-system-nodes-types]"
            ),
        ),
    ],
    disk_large_enough: [
        ("least", {"disk_gib": 20}, "pass", ""),
        (
            "too-small",
            {"disk_gib": 19},
            "fail",
            "trainers: system_disk_gib=19: is not a valid root volume size; use 20 to 65536 [aws-system-nodes-disk]",
        ),
        ("most", {"disk_gib": 65536}, "pass", ""),
        (
            "too-large",
            {"disk_gib": 65537},
            "fail",
            "trainers: system_disk_gib=65537: is not a valid root volume size; use 20 to 65536 [aws-system-nodes-disk]",
        ),
    ],
    subnets_for_nodes: [
        ("default", {"given": False, "zones": ()}, "pass", ""),
        ("some", {"given": True, "zones": ("use1-az1",)}, "pass", ""),
        (
            "none",
            {"given": True, "zones": ()},
            "fail",
            (
                "trainers: node_subnet_ids={}: gives nodes no subnet; give one per zone, or leave it out "
                "[aws-system-nodes-subnets]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
