"""Cases of gpufleet.rules.kubernetes.name."""

from gpufleet.rules.kubernetes.name import name_form

CASES = {
    name_form: [
        ("one", {"argument": "queue", "name": "a"}, "pass", ""),
        ("usual", {"argument": "namespace", "name": "team-vision"}, "pass", ""),
        (
            "longest",
            {"argument": "namespace", "name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
            "pass",
            "",
        ),
        (
            "too-long",
            {"argument": "namespace", "name": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
            "fail",
            (
                "trainers: namespace=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: is not "
                "a valid Kubernetes name; use at most 63 lower-case letters, digits and - between them, such as "
                "team-vision [any-kubernetes-name]"
            ),
        ),
        (
            "capital",
            {"argument": "namespace", "name": "Vision"},
            "fail",
            (
                "trainers: namespace=Vision: is not a valid Kubernetes name; use at most 63 lower-case letters, "
                "digits and - between them, such as team-vision [any-kubernetes-name]"
            ),
        ),
        (
            "dot",
            {"argument": "volume_claim", "name": "shared.files"},
            "fail",
            (
                "trainers: volume_claim=shared.files: is not a valid Kubernetes name; use at most 63 lower-case "
                "letters, digits and - between them, such as team-vision [any-kubernetes-name]"
            ),
        ),
        (
            "ends-with-hyphen",
            {"argument": "queue", "name": "vision-"},
            "fail",
            (
                "trainers: queue=vision-: is not a valid Kubernetes name; use at most 63 lower-case letters, digits"
                " and - between them, such as team-vision [any-kubernetes-name]"
            ),
        ),
        (
            "empty",
            {"argument": "queue", "name": ""},
            "fail",
            (
                "trainers: queue='': is not a valid Kubernetes name; use at most 63 lower-case letters, digits and "
                "- between them, such as team-vision [any-kubernetes-name]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
