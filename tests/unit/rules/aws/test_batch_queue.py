"""Cases of gpufleet.rules.aws.batch_queue."""

from gpufleet.rules.aws.batch_queue import (
    environment_arn,
    environments_distinct,
    share_name,
    share_weight,
    shares_apart,
    shares_few,
    time_limit,
)

CASES = {
    environments_distinct: [
        ("distinct", {"same": ()}, "pass", ""),
        (
            "twice",
            {"same": (3,)},
            "fail",
            (
                "trainers: environments=[3]: repeats earlier entries at position 3; name each environment once "
                "[aws-batch-queue-twice]"
            ),
        ),
    ],
    environment_arn: [
        ("arn", {"arn": "arn:aws:batch:us-east-1:123456789012:compute-environment/first"}, "pass", ""),
        ("china", {"arn": "arn:aws-cn:batch:cn-north-1:123456789012:compute-environment/a-b_c"}, "pass", ""),
        (
            "name",
            {"arn": "first"},
            "fail",
            (
                "trainers: environments=first: is not the ARN of a compute environment; give environment_arn of a "
                "BatchEnvironment, or an ARN as aws batch describe-compute-environments shows it "
                "[aws-batch-queue-arn]"
            ),
        ),
        (
            "queue",
            {"arn": "arn:aws:batch:us-east-1:123456789012:job-queue/first"},
            "fail",
            (
                "trainers: environments=arn:aws:batch:us-east-1:123456789012:job-queue/first: is not the ARN of a "
                "compute environment; give environment_arn of a BatchEnvironment, or an ARN as aws batch "
                "describe-compute-environments shows it [aws-batch-queue-arn]"
            ),
        ),
    ],
    time_limit: [
        ("least", {"argument": "runnable_minutes", "value": 10, "least": 10, "most": 1440}, "pass", ""),
        ("most", {"argument": "runnable_minutes", "value": 1440, "least": 10, "most": 1440}, "pass", ""),
        (
            "below",
            {"argument": "runnable_minutes", "value": 9, "least": 10, "most": 1440},
            "fail",
            (
                "trainers: runnable_minutes=9: Batch cancels after 10 minutes to 24 hours, or not at all; use 10 to "
                "1440, or leave it out [aws-batch-time-limit]"
            ),
        ),
        (
            "above",
            {"argument": "job_state_time_limit_actions.max_time_seconds", "value": 86401, "least": 600, "most": 86400},
            "fail",
            (
                "trainers: job_state_time_limit_actions.max_time_seconds=86401: Batch cancels after 10 minutes to 24 "
                "hours, or not at all; use 600 to 86400, or leave it out [aws-batch-time-limit]"
            ),
        ),
    ],
    share_name: [
        ("plain", {"team": "vision"}, "pass", ""),
        ("prefix", {"team": "vision*"}, "pass", ""),
        (
            "longest",
            {"team": "a" * 255},
            "pass",
            "",
        ),
        (
            "hyphen",
            {"team": "vision-lab"},
            "fail",
            (
                "trainers: shares=vision-lab: is not a valid share identifier; use letters and digits only, such as "
                "visionlab "
                "[aws-batch-share-name]"
            ),
        ),
        (
            "too-long",
            {"team": "a" * 256},
            "fail",
            "trainers: shares="
            + "a" * 157
            + "...: is not a valid share identifier; use letters and digits only, such as visionlab "
            "[aws-batch-share-name]",
        ),
        (
            "only-star",
            {"team": "*"},
            "fail",
            (
                "trainers: shares=*: is not a valid share identifier; use letters and digits only, such as visionlab "
                "[aws-batch-share-name]"
            ),
        ),
    ],
    shares_apart: [
        ("apart", {"teams": ("vision", "speech")}, "pass", ""),
        ("same-beginning", {"teams": ("vision", "visionlab")}, "pass", ""),
        (
            "covered",
            {"teams": ("vis*", "vision", "speech")},
            "fail",
            (
                "trainers: shares=[vision]: is also matched by a share with an asterisk; leave one of the two out "
                "[aws-batch-share-overlap]"
            ),
        ),
    ],
    share_weight: [
        ("one", {"team": "vision", "weight": 1.0}, "pass", ""),
        ("least", {"team": "vision", "weight": 0.01}, "pass", ""),
        ("most", {"team": "vision", "weight": 1000.0}, "pass", ""),
        (
            "zero",
            {"team": "vision", "weight": 0.0},
            "fail",
            (
                "trainers: shares.vision=0.0: is not a valid Batch share weight; use 0.01 to 1000, such as 1 "
                "[aws-batch-share-weight]"
            ),
        ),
        (
            "below",
            {"team": "vision", "weight": 0.009},
            "fail",
            (
                "trainers: shares.vision=0.009: is not a valid Batch share weight; use 0.01 to 1000, such as 1 "
                "[aws-batch-share-weight]"
            ),
        ),
        (
            "above",
            {"team": "vision", "weight": 1000.5},
            "fail",
            (
                "trainers: shares.vision=1000.5: is not a valid Batch share weight; use 0.01 to 1000, such as 1 "
                "[aws-batch-share-weight]"
            ),
        ),
        (
            "no-figure",
            {"team": "vision", "weight": None},
            "fail",
            (
                "trainers: shares.vision=null: is not a valid Batch share weight; use 0.01 to 1000, such as 1 "
                "[aws-batch-share-weight]"
            ),
        ),
    ],
    shares_few: [
        ("most", {"teams": 500}, "pass", ""),
        (
            "too-many",
            {"teams": 501},
            "fail",
            (
                "trainers: shares=501: is more than the 500 that a queue allows; make another queue "
                "[aws-batch-share-number]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
