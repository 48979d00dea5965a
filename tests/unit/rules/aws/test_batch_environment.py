"""Cases of gpufleet.rules.aws.batch_environment."""

from gpufleet.rules.aws.batch_environment import (
    efa_placed,
    few_groups,
    no_block,
    one_architecture,
    same_vcpus,
    spot_near,
)

CASES = {
    same_vcpus: [
        ("one", {"types": ("p5.48xlarge",), "vcpus": (192,), "most": 4}, "pass", ""),
        ("same", {"types": ("p4d.24xlarge", "p4de.24xlarge"), "vcpus": (96, 96), "most": 4}, "pass", ""),
        ("none", {"types": (), "vcpus": (), "most": 4}, "pass", ""),
        (
            "different",
            {"types": ("g5.12xlarge", "g5.16xlarge"), "vcpus": (48, 64), "most": 4},
            "fail",
            (
                "trainers: types=[g5.12xlarge, g5.16xlarge]: have 48 and 64 vCPUs, and Batch limits vCPUs: max=4 "
                "becomes 192 vCPUs, which is 3 of the largest; give types with the same vCPUs, or make an environment "
                "for each [aws-batch-same-vcpus]"
            ),
        ),
        (
            "far-apart",
            {"types": ("g5.xlarge", "g5.48xlarge"), "vcpus": (4, 192), "most": 2},
            "fail",
            (
                "trainers: types=[g5.xlarge, g5.48xlarge]: have 4 and 192 vCPUs, and Batch limits vCPUs: max=2 "
                "becomes 8 vCPUs, which is 1 of the largest; give types with the same vCPUs, or make an environment "
                "for each [aws-batch-same-vcpus]"
            ),
        ),
    ],
    one_architecture: [
        ("x86", {"types": ("g5.xlarge", "optimal", "p4d")}, "pass", ""),
        ("arm", {"types": ("g5g.xlarge", "c7gd", "a1.large", "default_arm64", "p6e-gb200.36xlarge")}, "pass", ""),
        (
            "two",
            {"types": ("g5g.xlarge", "g5.xlarge")},
            "fail",
            (
                "trainers: types=[g5g.xlarge, g5.xlarge]: g5g.xlarge has ARM processors, unlike the others; make an "
                "environment for each architecture [aws-batch-architecture]"
            ),
        ),
        (
            "family-beside-optimal",
            {"types": ("optimal", "m7g", "c7g.large")},
            "fail",
            (
                "trainers: types=[optimal, m7g, c7g.large]: m7g and c7g.large have ARM processors, unlike the others; "
                "make an environment for each architecture [aws-batch-architecture]"
            ),
        ),
        ("none", {"types": ()}, "pass", ""),
    ],
    no_block: [
        ("reservation", {"capacity": "reservation"}, "pass", ""),
        (
            "block",
            {"capacity": "capacity-block"},
            "fail",
            (
                "trainers: capacity=capacity-block: Batch ignores the template's market type and starts other nodes; "
                "use on-demand, spot or reservation, or a GPU node group of EKS for the block [aws-batch-no-block]"
            ),
        ),
    ],
    spot_near: [
        ("spread", {"capacity": "spot", "argument": "placement", "word": "none"}, "pass", ""),
        ("on-demand", {"capacity": "on-demand", "argument": "placement", "word": "create"}, "pass", ""),
        ("plain", {"capacity": "spot", "argument": "network", "word": "plain"}, "pass", ""),
        (
            "placed",
            {"capacity": "spot", "argument": "placement", "word": "create"},
            "fail",
            (
                "trainers: placement=create: makes Spot capacity rarer, and multi-node jobs, which need it, never run "
                "on Spot; set placement=none, or capacity=on-demand [aws-batch-spot-near]"
            ),
        ),
        (
            "efa",
            {"capacity": "spot", "argument": "network", "word": "efa"},
            "fail",
            (
                "trainers: network=efa: makes Spot capacity rarer, and multi-node jobs, which need it, never run on "
                "Spot; set network=plain, or capacity=on-demand [aws-batch-spot-near]"
            ),
        ),
    ],
    efa_placed: [
        ("placed", {"network": "efa", "placement": "create", "capacity": "on-demand"}, "pass", ""),
        ("existing", {"network": "efa", "placement": "existing", "capacity": "on-demand"}, "pass", ""),
        ("plain", {"network": "plain", "placement": "none", "capacity": "on-demand"}, "pass", ""),
        ("reserved", {"network": "efa", "placement": "none", "capacity": "reservation"}, "pass", ""),
        ("spot", {"network": "efa", "placement": "none", "capacity": "spot"}, "pass", ""),
        (
            "apart",
            {"network": "efa", "placement": "none", "capacity": "on-demand"},
            "fail",
            (
                "trainers: placement=none: Batch supports EFA in one cluster placement group only; set "
                "placement=create [aws-batch-efa-placed]"
            ),
        ),
    ],
    few_groups: [
        ("none", {"groups": 0}, "pass", ""),
        ("four", {"groups": 4}, "pass", ""),
        (
            "five",
            {"groups": 5},
            "fail",
            (
                "trainers: security_group_ids=5: makes 6 security groups with the environment's own, and an interface "
                "allows 5; give at most 4 [aws-batch-security-groups]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
