"""Cases of gpufleet.rules.aws.node_version."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.aws.node_version import validate_node_version, version_near_cluster, version_of_image

OWN = "ami-0123456789abcdef0"
CASES = {
    version_near_cluster: [
        ("the-same", {"version": "1.35", "cluster": "1.35"}, "pass", ""),
        ("three-older", {"version": "1.32", "cluster": "1.35"}, "pass", ""),
        (
            "four-older",
            {"version": "1.31", "cluster": "1.35"},
            "fail",
            (
                "trainers: version=1.31: is 4 minor versions older than the cluster, which has 1.35; raise it before "
                "the cluster's [aws-node-group-version]"
            ),
        ),
        (
            "newer",
            {"version": "1.36", "cluster": "1.35"},
            "fail",
            (
                "trainers: version=1.36: is newer than the cluster, which has 1.35; leave it out: nodes then follow "
                "the cluster [aws-node-group-version]"
            ),
        ),
        ("unsaid", {"version": "", "cluster": "1.35"}, "pass", ""),
        ("of-a-cluster-not-known", {"version": "1.35", "cluster": ""}, "pass", ""),
    ],
    version_of_image: [
        ("of-eks", {"version": "1.35", "image": "al2023"}, "pass", ""),
        ("own-unsaid", {"version": "", "image": OWN}, "pass", ""),
        (
            "own",
            {"version": "1.35", "image": OWN},
            "fail",
            (
                f"trainers: version=1.35: EKS rejects it beside {OWN}, which has its own; leave it out "
                "[aws-node-group-version-image]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("args", "rules"),
    [
        ({}, []),
        ({"version": "1.34", "cluster_version": "1.35"}, []),
        ({"version": "1.34", "cluster_version": object()}, []),
        ({"version": "v1.34", "cluster_version": "1.35"}, ["aws-cluster-version"]),
        ({"version": "1.36", "cluster_version": "1.35"}, ["aws-node-group-version"]),
        ({"version": "1.35", "image": OWN}, ["aws-node-group-version-image"]),
    ],
)
def test_versions_of_a_pool(args, rules) -> None:
    assert [each.rule for each in validate_node_version(args) if each.status is not Status.PASS] == rules
