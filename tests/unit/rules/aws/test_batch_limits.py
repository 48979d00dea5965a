"""Cases of gpufleet.rules.aws.batch_limits."""

from gpufleet.rules.aws.batch_limits import gpus_fit, memory_fits, shared_memory_fits, timeout, tries, vcpus_fit

CASES = {
    tries: [
        ("none", {"argument": "retries", "value": 0, "least": 0, "most": 9}, "pass", ""),
        ("most", {"argument": "retries", "value": 9, "least": 0, "most": 9}, "pass", ""),
        ("ten", {"argument": "retry_strategy.attempts", "value": 10, "least": 1, "most": 10}, "pass", ""),
        (
            "too-many",
            {"argument": "retries", "value": 10, "least": 0, "most": 9},
            "fail",
            ("trainers: retries=10: Batch tries a job 1 to 10 times; use 0 to 9 [aws-batch-tries]"),
        ),
        (
            "negative",
            {"argument": "retries", "value": -1, "least": 0, "most": 9},
            "fail",
            ("trainers: retries=-1: Batch tries a job 1 to 10 times; use 0 to 9 [aws-batch-tries]"),
        ),
        (
            "no-try",
            {"argument": "retry_strategy.attempts", "value": 0, "least": 1, "most": 10},
            "fail",
            ("trainers: retry_strategy.attempts=0: Batch tries a job 1 to 10 times; use 1 to 10 [aws-batch-tries]"),
        ),
    ],
    timeout: [
        ("minute", {"argument": "timeout_minutes", "value": 1, "least": 1}, "pass", ""),
        ("seconds", {"argument": "timeout.attempt_duration_seconds", "value": 60, "least": 60}, "pass", ""),
        (
            "zero",
            {"argument": "timeout_minutes", "value": 0, "least": 1},
            "fail",
            ("trainers: timeout_minutes=0: is below Batch's minimum of one minute; use 1 or more [aws-batch-timeout]"),
        ),
        (
            "below",
            {"argument": "timeout.attempt_duration_seconds", "value": 59, "least": 60},
            "fail",
            (
                "trainers: timeout.attempt_duration_seconds=59: is below Batch's minimum of one minute; use 60 or "
                "more [aws-batch-timeout]"
            ),
        ),
    ],
    gpus_fit: [
        ("all", {"gpus": 8, "type_name": "p5.48xlarge", "of_node": 8, "most": 16}, "pass", ""),
        ("none", {"gpus": 0, "type_name": "", "of_node": None, "most": 16}, "pass", ""),
        ("any", {"gpus": 16, "type_name": "", "of_node": None, "most": 16}, "pass", ""),
        (
            "more",
            {"gpus": 9, "type_name": "p5.48xlarge", "of_node": 8, "most": 16},
            "fail",
            (
                "trainers: gpus=9: is more than the 8 of p5.48xlarge; use 8 or fewer, or several nodes "
                "[aws-batch-job-gpus]"
            ),
        ),
        (
            "more-than-any",
            {"gpus": 17, "type_name": "", "of_node": None, "most": 16},
            "fail",
            (
                "trainers: gpus=17: is more than the 16 of any node; use 16 or fewer, or several nodes "
                "[aws-batch-job-gpus]"
            ),
        ),
        (
            "negative",
            {"gpus": -1, "type_name": "", "of_node": None, "most": 16},
            "fail",
            ("trainers: gpus=-1: is below 0; use 0 or more [aws-batch-job-gpus]"),
        ),
    ],
    vcpus_fit: [
        ("all", {"vcpus": 192, "type_name": "p5.48xlarge", "of_node": 192}, "pass", ""),
        ("one", {"vcpus": 1, "type_name": "p5.48xlarge", "of_node": 192}, "pass", ""),
        (
            "more",
            {"vcpus": 193, "type_name": "p5.48xlarge", "of_node": 192},
            "fail",
            ("trainers: vcpus=193: is more than the 192 of p5.48xlarge; use 192 or fewer [aws-batch-job-vcpus]"),
        ),
        (
            "none",
            {"vcpus": 0, "type_name": "p5.48xlarge", "of_node": 192},
            "fail",
            ("trainers: vcpus=0: is below 1; use 1 or more [aws-batch-job-vcpus]"),
        ),
    ],
    memory_fits: [
        ("little", {"memory_gib": 1, "type_name": "g5.8xlarge", "of_node": 128}, "pass", ""),
        ("most", {"memory_gib": 121, "type_name": "g5.8xlarge", "of_node": 128}, "pass", ""),
        (
            "doubtful",
            {"memory_gib": 122, "type_name": "g5.8xlarge", "of_node": 128},
            "unverified",
            (
                "trainers: memory_gib=122: not verified: whether g5.8xlarge has so much beside its system is not "
                "known; use 121 or less [aws-batch-job-memory]"
            ),
        ),
        (
            "nearly-all",
            {"memory_gib": 127, "type_name": "g5.8xlarge", "of_node": 128},
            "unverified",
            (
                "trainers: memory_gib=127: not verified: whether g5.8xlarge has so much beside its system is not "
                "known; use 121 or less [aws-batch-job-memory]"
            ),
        ),
        (
            "all",
            {"memory_gib": 128, "type_name": "g5.8xlarge", "of_node": 128},
            "fail",
            (
                "trainers: memory_gib=128: leaves nothing of the 128 GiB of g5.8xlarge to the system; use 121 or less "
                "[aws-batch-job-memory]"
            ),
        ),
        (
            "none",
            {"memory_gib": 0, "type_name": "g5.8xlarge", "of_node": 128},
            "fail",
            ("trainers: memory_gib=0: is below 1; use 1 or more [aws-batch-job-memory]"),
        ),
    ],
    shared_memory_fits: [
        ("all", {"shared_gib": 64, "memory_gib": 64}, "pass", ""),
        ("one", {"shared_gib": 1, "memory_gib": 64}, "pass", ""),
        (
            "more",
            {"shared_gib": 65, "memory_gib": 64},
            "fail",
            (
                "trainers: shared_memory_gib=65: is more than all of the job's memory_gib=64; use 64 or less, or "
                "raise memory_gib [aws-batch-job-shared-memory]"
            ),
        ),
        (
            "none",
            {"shared_gib": 0, "memory_gib": 64},
            "fail",
            ("trainers: shared_memory_gib=0: is below 1; use 1 or more [aws-batch-job-shared-memory]"),
        ),
    ],
}


def test_case(case):
    case.check()
