"""Cases of gpufleet.rules.aws.batch_strategy."""

from gpufleet.rules.aws.batch_strategy import image_drives, image_name, strategy_legal, updates_in_place

CASES = {
    strategy_legal: [
        ("on-demand", {"strategy": "BEST_FIT_PROGRESSIVE", "spot": False, "fleet_role": False}, "pass", ""),
        ("on-demand-best", {"strategy": "BEST_FIT", "spot": False, "fleet_role": False}, "pass", ""),
        ("spot", {"strategy": "SPOT_PRICE_CAPACITY_OPTIMIZED", "spot": True, "fleet_role": False}, "pass", ""),
        ("spot-capacity", {"strategy": "SPOT_CAPACITY_OPTIMIZED", "spot": True, "fleet_role": False}, "pass", ""),
        ("spot-progressive", {"strategy": "BEST_FIT_PROGRESSIVE", "spot": True, "fleet_role": False}, "pass", ""),
        ("spot-with-role", {"strategy": "BEST_FIT", "spot": True, "fleet_role": True}, "pass", ""),
        (
            "spot-without-role",
            {"strategy": "BEST_FIT", "spot": True, "fleet_role": False},
            "fail",
            (
                "trainers: strategy=BEST_FIT: requires a Spot Fleet role on spot; use SPOT_PRICE_CAPACITY_OPTIMIZED, "
                "which needs none [aws-batch-strategy]"
            ),
        ),
        (
            "spot-word-on-demand",
            {"strategy": "SPOT_CAPACITY_OPTIMIZED", "spot": False, "fleet_role": False},
            "fail",
            (
                "trainers: strategy=SPOT_CAPACITY_OPTIMIZED: is for spot only; use BEST_FIT_PROGRESSIVE, or "
                "capacity=spot [aws-batch-strategy]"
            ),
        ),
        (
            "misspelt",
            {"strategy": "BEST_FIT_PROGRESIVE", "spot": False, "fleet_role": False},
            "fail",
            (
                "trainers: strategy=BEST_FIT_PROGRESIVE: is not a Batch allocation strategy; use BEST_FIT_PROGRESSIVE "
                "or BEST_FIT [aws-batch-strategy]"
            ),
        ),
        (
            "misspelt-on-spot",
            {"strategy": "SPOT_OPTIMIZED", "spot": True, "fleet_role": False},
            "fail",
            (
                "trainers: strategy=SPOT_OPTIMIZED: is not a Batch allocation strategy; use "
                "SPOT_PRICE_CAPACITY_OPTIMIZED, SPOT_CAPACITY_OPTIMIZED or BEST_FIT_PROGRESSIVE [aws-batch-strategy]"
            ),
        ),
    ],
    updates_in_place: [
        ("progressive", {"strategy": "BEST_FIT_PROGRESSIVE"}, "pass", ""),
        ("spot", {"strategy": "SPOT_CAPACITY_OPTIMIZED"}, "pass", ""),
        (
            "best-fit",
            {"strategy": "BEST_FIT"},
            "fail",
            (
                "trainers: strategy=BEST_FIT: makes nearly every change of the environment a replacement; use "
                "BEST_FIT_PROGRESSIVE, or SPOT_PRICE_CAPACITY_OPTIMIZED on spot [aws-batch-strategy-in-place]"
            ),
        ),
    ],
    image_name: [
        ("al2023", {"image": "al2023"}, "pass", ""),
        ("own", {"image": "ami-0123456789abcdef0"}, "pass", ""),
        (
            "bottlerocket",
            {"image": "bottlerocket"},
            "fail",
            (
                "trainers: image=bottlerocket: is not an image that Batch has for GPUs; use al2023, or the id of your "
                "own image with the ECS agent (ami-...) [aws-batch-image-word]"
            ),
        ),
    ],
    image_drives: [
        (
            "current",
            {"type_name": "p5.48xlarge", "architecture": "x86_64", "image_type": "ECS_AL2023_NVIDIA"},
            "pass",
            "",
        ),
        ("own", {"type_name": "g5g.xlarge", "architecture": "arm64", "image_type": ""}, "pass", ""),
        (
            "graviton",
            {"type_name": "g5g.xlarge", "architecture": "arm64", "image_type": "ECS_AL2023_NVIDIA"},
            "fail",
            (
                "trainers: types=g5g.xlarge: is arm64, which ECS_AL2023_NVIDIA is not made for; use another type, or "
                "your own image with the ECS agent (ami-...) [aws-batch-image-type]"
            ),
        ),
        (
            "p3dn",
            {"type_name": "p3dn.24xlarge", "architecture": "x86_64", "image_type": "ECS_AL2023_NVIDIA"},
            "fail",
            (
                "trainers: types=p3dn.24xlarge: has GPUs too old for the driver of ECS_AL2023_NVIDIA; use another "
                "type, or your own image with the ECS agent (ami-...) [aws-batch-image-type]"
            ),
        ),
        (
            "p3",
            {"type_name": "p3.2xlarge", "architecture": "x86_64", "image_type": "ECS_AL2023_NVIDIA"},
            "fail",
            (
                "trainers: types=p3.2xlarge: has GPUs too old for the driver of ECS_AL2023_NVIDIA; use another type, "
                "or your own image with the ECS agent (ami-...) [aws-batch-image-type]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
