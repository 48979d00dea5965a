"""Cases of gpufleet.rules.aws.image."""

from gpufleet.rules.aws.image import disk_holds_image, image_known, one_architecture

CASES = {
    image_known: [
        ("al2023", {"image": "al2023"}, "pass", ""),
        ("bottlerocket", {"image": "bottlerocket"}, "pass", ""),
        ("own", {"image": "ami-0123456789abcdef0"}, "pass", ""),
        ("own-old-form", {"image": "ami-0123abcd"}, "pass", ""),
        (
            "own-too-short",
            {"image": "ami-0123"},
            "fail",
            (
                "trainers: image=ami-0123: is not the id of an image; an id is ami- and 17 hexadecimal digits "
                "[aws-image-known]"
            ),
        ),
        (
            "al2",
            {"image": "al2"},
            "fail",
            (
                "trainers: image=al2: is not a known image; did you mean al2023? (use al2023 or bottlerocket), or the "
                "id of your own image (ami-...) [aws-image-known]"
            ),
        ),
        (
            "ubuntu",
            {"image": "ubuntu"},
            "fail",
            (
                "trainers: image=ubuntu: is not a known image; use al2023 or bottlerocket, or the id of your own "
                "image "
                "(ami-...) [aws-image-known]"
            ),
        ),
    ],
    one_architecture: [
        ("one", {"types": ("g5.xlarge", "g6.xlarge"), "architectures": ("x86_64", "x86_64")}, "pass", ""),
        (
            "two",
            {"types": ("g5.xlarge", "g5g.xlarge"), "architectures": ("x86_64", "arm64")},
            "fail",
            (
                "trainers: types=[g5.xlarge, g5g.xlarge]: mixes arm64 and x86_64; make a pool for each "
                "architecture [aws-image-one-architecture]"
            ),
        ),
    ],
    disk_holds_image: [
        ("at-limit", {"image": "al2023", "disk_gib": 20}, "pass", ""),
        (
            "below",
            {"image": "al2023", "disk_gib": 19},
            "fail",
            "trainers: disk_gib=19: is below the 20 GiB that the image needs; use 20 or more [aws-image-disk]",
        ),
        ("bottlerocket-data", {"image": "bottlerocket", "disk_gib": 1}, "pass", ""),
        (
            "none",
            {"image": "bottlerocket", "disk_gib": 0},
            "fail",
            "trainers: disk_gib=0: is below the 1 GiB that the image needs; use 1 or more [aws-image-disk]",
        ),
        (
            "own-small",
            {"image": "ami-0123456789abcdef0", "disk_gib": 19},
            "unverified",
            (
                "trainers: disk_gib=19: not verified: the size of ami-0123456789abcdef0 is not known; use 20 or "
                "more [aws-image-disk]"
            ),
        ),
        ("own-usual", {"image": "ami-0123456789abcdef0", "disk_gib": 20}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
