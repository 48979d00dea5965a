"""Cases of gpufleet.rules.aws.outputs_bucket."""

from gpufleet.rules.aws.outputs_bucket import bucket_prefix, key_usable, outputs_expire

CASES = {
    key_usable: [
        ("both", {"bucket": "outputs", "missing": []}, "pass", ""),
        (
            "one",
            {"bucket": "outputs", "missing": ["kms:Decrypt"]},
            "fail",
            "trainers: policy=outputs: writes to outputs, whose key it may not use: it lacks kms:Decrypt; allow that "
            "on the key (TrainingJob: bucket=outputs.for_jobs([...])), or in the key's policy [aws-outputs-key]",
        ),
    ],
    bucket_prefix: [
        ("plain", {"prefix": "vision-outputs-"}, "pass", ""),
        ("longest", {"prefix": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}, "pass", ""),
        (
            "capital",
            {"prefix": "Vision-"},
            "fail",
            (
                "trainers: bucket_prefix=Vision-: is not a valid bucket name prefix; use 1 to 37 lower-case letters, "
                "digits and -, such as vision-outputs- [aws-outputs-prefix]"
            ),
        ),
        (
            "dots",
            {"prefix": "vision.outputs-"},
            "fail",
            (
                "trainers: bucket_prefix=vision.outputs-: is not a valid bucket name prefix; use 1 to 37 lower-case "
                "letters, digits and -, such as vision-outputs- [aws-outputs-prefix]"
            ),
        ),
        (
            "too-long",
            {"prefix": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
            "fail",
            (
                "trainers: bucket_prefix=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: is not a valid bucket name prefix; "
                "use 1 to 37 lower-case letters, digits and -, such as vision-outputs- [aws-outputs-prefix]"
            ),
        ),
        (
            "taken",
            {"prefix": "xn--vision"},
            "fail",
            (
                "trainers: bucket_prefix=xn--vision: is not a valid bucket name prefix; use 1 to 37 lower-case "
                "letters, "
                "digits and -, such as vision-outputs- [aws-outputs-prefix]"
            ),
        ),
        (
            "empty",
            {"prefix": ""},
            "fail",
            (
                "trainers: bucket_prefix='': is not a valid bucket name prefix; use 1 to 37 lower-case letters, digits "
                "and -, such as vision-outputs- [aws-outputs-prefix]"
            ),
        ),
    ],
    outputs_expire: [
        ("days", {"days": 90}, "pass", ""),
        ("for-ever", {"days": 0}, "pass", ""),
        (
            "unsaid",
            {"days": None},
            "fail",
            (
                "trainers: expire_days=null: outputs stay, and are paid for, until somebody deletes them; set days, "
                "or 0 [aws-outputs-expiry]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
