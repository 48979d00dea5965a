"""Cases of gpufleet.rules.aws.node_image."""

from gpufleet.rules import Status
from gpufleet.rules.aws.node_image import JOIN_ARGUMENTS, image_can_join, validate_node_image

OWN = "ami-0123456789abcdef0"
CASES = {
    image_can_join: [
        ("al2023", {"image": "al2023", "argument": "service_cidr", "given": False}, "pass", ""),
        ("bottlerocket", {"image": "bottlerocket", "argument": "service_cidr", "given": False}, "pass", ""),
        ("own-and-given", {"image": OWN, "argument": "service_cidr", "given": True}, "pass", ""),
        (
            "own",
            {"image": OWN, "argument": "service_cidr", "given": False},
            "fail",
            (
                f"trainers: service_cidr=null: image={OWN} is not EKS's, so its nodes need this to join; "
                "give it (an output of the cluster), or set image=al2023 [aws-node-image-can-join]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


def test_judge_node_image_asks_for_each_argument() -> None:
    findings = validate_node_image({"image": OWN, "cluster_endpoint": object()})
    assert [(each.argument, each.status) for each in findings] == [
        ("", Status.PASS),
        *((name, Status.FAIL) for name in JOIN_ARGUMENTS[1:]),
    ]


def test_judge_node_image_by_default_needs_nothing() -> None:
    assert {each.status for each in validate_node_image({})} == {Status.PASS}
