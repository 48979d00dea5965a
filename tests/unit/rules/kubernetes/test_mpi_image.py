"""Cases of gpufleet.rules.kubernetes.mpi_image."""

from gpufleet.rules.kubernetes.mpi_image import image_form, image_pinned

CASES = {
    image_form: [
        ("tag", {"image": "r.example.com:5000/team/llm:2026-11-21"}, "pass", ""),
        (
            "digest",
            {"image": "llm@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
            "pass",
            "",
        ),
        (
            "both",
            {"image": "r/llm:1@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
            "pass",
            "",
        ),
        ("bare", {"image": "ubuntu"}, "pass", ""),
        (
            "capital",
            {"image": "r.example.com/LLM:1"},
            "fail",
            (
                "trainers: image=r.example.com/LLM:1: is not a valid image name; use host/path:tag in lower-case "
                "letters, or host/path@sha256: and 64 hexadecimal digits [any-mpi-image]"
            ),
        ),
        (
            "short-digest",
            {"image": "llm@sha256:abc"},
            "fail",
            (
                "trainers: image=llm@sha256:abc: is not a valid image name; use host/path:tag in lower-case letters, "
                "or "
                "host/path@sha256: and 64 hexadecimal digits [any-mpi-image]"
            ),
        ),
        (
            "space",
            {"image": "my image"},
            "fail",
            (
                "trainers: image=my image: is not a valid image name; use host/path:tag in lower-case letters, or "
                "host/path@sha256: and 64 hexadecimal digits [any-mpi-image]"
            ),
        ),
        (
            "empty",
            {"image": ""},
            "fail",
            (
                "trainers: image='': is not a valid image name; use host/path:tag in lower-case letters, or "
                "host/path@sha256: and 64 hexadecimal digits [any-mpi-image]"
            ),
        ),
    ],
    image_pinned: [
        ("tag", {"image": "r/llm:1"}, "pass", ""),
        (
            "digest",
            {"image": "llm@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
            "pass",
            "",
        ),
        (
            "port-is-no-tag",
            {"image": "r.example.com:5000/llm"},
            "fail",
            (
                "trainers: image=r.example.com:5000/llm: may be another image on each node and on each attempt; give"
                " the tag of one build, or its digest [any-mpi-image-pinned]"
            ),
        ),
        (
            "latest",
            {"image": "r/llm:latest"},
            "fail",
            (
                "trainers: image=r/llm:latest: may be another image on each node and on each attempt; give the tag "
                "of one build, or its digest [any-mpi-image-pinned]"
            ),
        ),
        (
            "latest-with-digest",
            {"image": "r/llm:latest@sha256:0000000000000000000000000000000000000000000000000000000000000000"},
            "pass",
            "",
        ),
        ("no-image-at-all", {"image": "my image"}, "pass", ""),
    ],
}


def test_case(case):
    case.check()
