"""Cases of gpufleet.rules.aws.iam_policy."""

from gpufleet.rules.aws.iam_policy import policy_size

CASES = {
    policy_size: [
        ("managed-at-the-limit", {"holder": "policy", "size": 6144, "most": 6144}, "pass", ""),
        (
            "managed-above",
            {"holder": "policy", "size": 6145, "most": 6144},
            "fail",
            "trainers: policy=6,145 characters: policy: longer than the 6,144 that IAM takes; name resources by a "
            "pattern, or split it up into several managed policies [aws-iam-policy-size]",
        ),
    ],
}


def test_case(case):
    case.check()
