"""Cases of gpufleet.rules.names."""

from gpufleet.rules.names import name_length

ROLE = {"kind": "Role", "longest": 64, "environment": "dev"}

CASES = {
    name_length: [
        ("longest", {**ROLE, "logical": "dev-" + "n" * 52}, "pass", ""),
        (
            "one-more",
            {**ROLE, "logical": "dev-" + "n" * 53},
            "fail",
            f"trainers: name=dev-{'n' * 53}: with the 8 random characters of its end, the name of the Role is longer "
            "than 64; use a stack name of at most 2 characters [any-name-length]",
        ),
        (
            "a-shorter-stack-name-is-not-enough",
            {**ROLE, "logical": "dev-" + "n" * 55},
            "fail",
            f"trainers: name=dev-{'n' * 55}: with the 8 random characters of its end, the name of the Role is longer "
            "than 64; shorten it by 3 characters [any-name-length]",
        ),
        (
            "without-the-stack-name",
            {**ROLE, "logical": "r" * 57},
            "fail",
            f"trainers: name={'r' * 57}: with the 8 random characters of its end, the name of the Role is longer than "
            "64; shorten it by 1 characters [any-name-length]",
        ),
    ]
}


def test_case(case):
    case.check()
