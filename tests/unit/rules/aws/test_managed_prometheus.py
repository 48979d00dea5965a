"""Cases of gpufleet.rules.aws.managed_prometheus."""

from gpufleet.rules.aws.managed_prometheus import retention_in_range, workspace_reached, workspace_written

DAYS = (
    "trainers: retention_days={}: is not a retention of Amazon's Prometheus; use 1 to 1095 [aws-prometheus-retention]"
)

CASES = {
    retention_in_range: [
        ("least", {"days": 1}, "pass", ""),
        ("most", {"days": 1095}, "pass", ""),
        ("none", {"days": 0}, "fail", DAYS.format(0)),
        ("more", {"days": 1096}, "fail", DAYS.format(1096)),
    ],
    workspace_written: [
        ("monitoring", {"software": ["device-plugin", "monitoring"]}, "pass", ""),
        (
            "nothing",
            {"software": ["device-plugin"]},
            "fail",
            (
                "trainers: software=[device-plugin]: lacks monitoring: nothing writes to the workspace; add monitoring "
                "[aws-prometheus-written]"
            ),
        ),
    ],
    workspace_reached: [
        ("nat", {"nat": "single", "endpoints": []}, "pass", ""),
        ("endpoint", {"nat": "none", "endpoints": ["aps-workspaces"]}, "pass", ""),
        (
            "neither",
            {"nat": "none", "endpoints": ["ec2"]},
            "fail",
            (
                "trainers: network.interface_endpoints=[ec2]: lacks aps-workspaces: without NAT, Prometheus does not "
                "reach its workspace; list aps-workspaces beside what EKS needs, or set network.nat=single "
                "[aws-prometheus-reached]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
