"""Cases of gpufleet.rules.kubernetes.mpi_job."""

from gpufleet.rules.kubernetes.mpi_job import (
    efa_count,
    gpu_count,
    grace_long_enough,
    grace_within_notice,
    job_name,
    worker_count,
)

CASES = {
    job_name: [
        ("usual", {"name": "resnet-50", "workers": 2}, "pass", ""),
        (
            "longest-of-10",
            {"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "workers": 10},
            "pass",
            "",
        ),
        (
            "too-long-of-10",
            {"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "workers": 10},
            "fail",
            (
                "trainers: name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: is 55 characters long, "
                "too long for the hosts 10 workers become; use 54 or fewer [any-mpi-name]"
            ),
        ),
        (
            "longest-of-512",
            {"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "workers": 512},
            "pass",
            "",
        ),
        (
            "too-long-of-512",
            {"name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "workers": 512},
            "fail",
            (
                "trainers: name=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: is 53 characters long, "
                "too long for the hosts 512 workers become; use 52 or fewer [any-mpi-name]"
            ),
        ),
        (
            "digit-first",
            {"name": "2nd", "workers": 2},
            "fail",
            (
                "trainers: name=2nd: is not a valid host name; use lower-case letters, digits and - between them, a "
                "letter first, such as resnet-1 [any-mpi-name]"
            ),
        ),
        (
            "capital",
            {"name": "ResNet", "workers": 2},
            "fail",
            (
                "trainers: name=ResNet: is not a valid host name; use lower-case letters, digits and - between them, a "
                "letter first, such as resnet-1 [any-mpi-name]"
            ),
        ),
        (
            "empty",
            {"name": "", "workers": 2},
            "fail",
            (
                "trainers: name='': is not a valid host name; use lower-case letters, digits and - between them, a "
                "letter"
                " first, such as resnet-1 [any-mpi-name]"
            ),
        ),
    ],
    grace_long_enough: [
        ("least", {"seconds": 10}, "pass", ""),
        (
            "less",
            {"seconds": 9},
            "fail",
            "trainers: grace_seconds=9: leaves ranks no time to save; use 10 or more [any-mpi-grace]",
        ),
    ],
    grace_within_notice: [
        ("all-of-it", {"seconds": 120, "notice": 120, "whose": "AWS"}, "pass", ""),
        (
            "more",
            {"seconds": 121, "notice": 120, "whose": "AWS"},
            "fail",
            (
                "trainers: grace_seconds=121: is longer than the 120 s after which AWS takes a Spot node; use 100 or "
                "less, or nodes on demand [any-mpi-grace-spot]"
            ),
        ),
        (
            "azure",
            {"seconds": 31, "notice": 30, "whose": "Azure"},
            "fail",
            (
                "trainers: grace_seconds=31: is longer than the 30 s after which Azure takes a Spot node; use 25 or "
                "less, or nodes on demand [any-mpi-grace-spot]"
            ),
        ),
    ],
    worker_count: [
        ("one", {"workers": 1}, "pass", ""),
        (
            "none",
            {"workers": 0},
            "fail",
            ("trainers: workers=0: no launcher is ever made for it; use 1 or more [any-mpi-workers]"),
        ),
        (
            "below",
            {"workers": -1},
            "fail",
            ("trainers: workers=-1: no launcher is ever made for it; use 1 or more [any-mpi-workers]"),
        ),
    ],
    gpu_count: [
        ("all", {"gpus": 8, "type_name": "p5.48xlarge", "of_node": 8, "most": 16}, "pass", ""),
        (
            "above",
            {"gpus": 9, "type_name": "p5.48xlarge", "of_node": 8, "most": 16},
            "fail",
            ("trainers: gpus_per_worker=9: is more than the 8 of p5.48xlarge; use 1 to 8 [any-mpi-gpus]"),
        ),
        (
            "above-one",
            {"gpus": 2, "type_name": "g5.xlarge", "of_node": 1, "most": 16},
            "fail",
            ("trainers: gpus_per_worker=2: is more than the 1 of g5.xlarge; use 1 [any-mpi-gpus]"),
        ),
        (
            "none",
            {"gpus": 0, "type_name": "g5.xlarge", "of_node": 1, "most": 16},
            "fail",
            "trainers: gpus_per_worker=0: is below 1; use 1 or more [any-mpi-gpus]",
        ),
        ("any-type", {"gpus": 16, "type_name": "", "of_node": None, "most": 16}, "pass", ""),
        (
            "no-node-has",
            {"gpus": 17, "type_name": "", "of_node": None, "most": 16},
            "fail",
            ("trainers: gpus_per_worker=17: is more than the 16 of any node; use 1 to 16 [any-mpi-gpus]"),
        ),
        (
            "own-node",
            {"gpus": 4, "type_name": "dgx-station", "of_node": None, "most": 16},
            "unverified",
            (
                "trainers: gpus_per_worker=4: not verified: dgx-station is not in the catalog; make sure that "
                "its nodes have as many GPUs [any-mpi-gpus]"
            ),
        ),
    ],
    efa_count: [
        ("plain", {"network": "plain", "wanted": None, "type_name": "g5.xlarge", "of_node": 0}, "pass", ""),
        (
            "plain-asked",
            {"network": "plain", "wanted": 4, "type_name": "p5.48xlarge", "of_node": 32},
            "fail",
            ("trainers: efa_per_worker=4: is not used with network=plain; leave it out, or use efa [aws-mpi-efa]"),
        ),
        ("all", {"network": "efa", "wanted": 32, "type_name": "p5.48xlarge", "of_node": 32}, "pass", ""),
        ("open", {"network": "efa", "wanted": None, "type_name": "p5.48xlarge", "of_node": 32}, "pass", ""),
        (
            "above",
            {"network": "efa", "wanted": 33, "type_name": "p5.48xlarge", "of_node": 32},
            "fail",
            ("trainers: efa_per_worker=33: is more than the 32 of p5.48xlarge; use 1 to 32 [aws-mpi-efa]"),
        ),
        (
            "above-one",
            {"network": "efa", "wanted": 2, "type_name": "g5.8xlarge", "of_node": 1},
            "fail",
            ("trainers: efa_per_worker=2: is more than the 1 of g5.8xlarge; use 1 [aws-mpi-efa]"),
        ),
        (
            "zero",
            {"network": "efa", "wanted": 0, "type_name": "p5.48xlarge", "of_node": 32},
            "fail",
            ("trainers: efa_per_worker=0: is below 1 with network=efa; use 1 or more, or network=plain [aws-mpi-efa]"),
        ),
        (
            "without",
            {"network": "efa", "wanted": None, "type_name": "g5.xlarge", "of_node": 0},
            "fail",
            ("trainers: network=efa: g5.xlarge has no EFA; use network=plain, or a type with EFA [aws-mpi-efa]"),
        ),
        (
            "no-type",
            {"network": "efa", "wanted": 4, "type_name": "", "of_node": None},
            "unverified",
            (
                "trainers: network=efa: not verified: which nodes have EFA is not known; give the instance_type "
                "[aws-mpi-efa]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
