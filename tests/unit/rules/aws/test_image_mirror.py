"""Cases of gpufleet.rules.aws.image_mirror."""

import pytest

from gpufleet.rules.aws.image_mirror import (
    github_named,
    list_in_region,
    list_legal,
    list_tags_unique,
    one_subject,
    provider_of_github,
    subject_narrow,
    validate_mirror_list,
)
from gpufleet.rules.rule import Status

ECR = "123456789012.dkr.ecr.us-east-1.amazonaws.com"
NOT_ONE = "is not a single repository; write ORGANISATION/NAME, without https:// [aws-mirror-github]"
NOT_NAMED = (
    "is not the name of a single branch or environment; write its plain name, such as main: letters, digits and . _ - "
    "/, without "
    "refs/heads/ and without wildcards [aws-mirror-subject]"
)
PROVIDER_FIX = (
    "is not GitHub's OIDC provider; give arn:aws:iam::<account>:oidc-provider/token.actions.githubusercontent.com "
    "[aws-mirror-provider]"
)
TO_FIX = "write <account>.dkr.ecr.us-east-1.amazonaws.com/<environment> [aws-mirror-list-registry]"
SOURCE = {"region": "us-east-1"}
CASES = {
    github_named: [
        ("plain", {"repository": "lab/images"}, "pass", ""),
        ("dots", {"repository": "lab-1/.github"}, "pass", ""),
        ("wildcard", {"repository": "lab/*"}, "fail", f"trainers: github_repository=lab/*: {NOT_ONE}"),
        ("no-name", {"repository": "lab"}, "fail", f"trainers: github_repository=lab: {NOT_ONE}"),
        ("deep", {"repository": "a/b/c"}, "fail", f"trainers: github_repository=a/b/c: {NOT_ONE}"),
        (
            "address",
            {"repository": "https://github.com/a/b"},
            "fail",
            f"trainers: github_repository=https://github.com/a/b: {NOT_ONE}",
        ),
    ],
    subject_narrow: [
        ("main", {"argument": "github_branch", "name": "main"}, "pass", ""),
        ("nested", {"argument": "github_branch", "name": "release/1.x"}, "pass", ""),
        ("wildcard", {"argument": "github_branch", "name": "*"}, "fail", f"trainers: github_branch=*: {NOT_NAMED}"),
        (
            "reference",
            {"argument": "github_branch", "name": "refs/heads/main"},
            "fail",
            f"trainers: github_branch=refs/heads/main: {NOT_NAMED}",
        ),
    ],
    one_subject: [
        ("default", {"repository": True, "branch": False, "environment": False}, "pass", ""),
        ("nothing", {"repository": False, "branch": False, "environment": False}, "pass", ""),
        ("environment", {"repository": True, "branch": False, "environment": True}, "pass", ""),
        (
            "both",
            {"repository": True, "branch": True, "environment": True},
            "fail",
            (
                "trainers: github_environment=(and github_branch): a job's subject holds one of the two; leave one "
                "out; the environment's own protection rules name the branches that may use it "
                "[aws-mirror-subjects-exclusive]"
            ),
        ),
        (
            "no-repository",
            {"repository": False, "branch": True, "environment": False},
            "fail",
            (
                "trainers: github_repository=null: is not given; give ORGANISATION/NAME, or leave out what belongs to "
                "it [aws-mirror-subjects-exclusive]"
            ),
        ),
    ],
    provider_of_github: [
        (
            "github",
            {"arn": "arn:aws-cn:iam::123456789012:oidc-provider/token.actions.githubusercontent.com"},
            "pass",
            "",
        ),
        (
            "cluster",
            {"arn": "arn:aws:iam::123456789012:oidc-provider/oidc.eks"},
            "fail",
            f"trainers: provider_arn=arn:aws:iam::123456789012:oidc-provider/oidc.eks: {PROVIDER_FIX}",
        ),
    ],
    list_legal: [
        ("legal", {"file": "images.yaml", "fault": ""}, "pass", ""),
        (
            "fault",
            {"file": "images.yaml", "fault": "to: is missing"},
            "fail",
            (
                "trainers: list=images.yaml: to: is missing; fix it; `gpufleet images sync <list> --dry-run` reads it "
                "in the same way [aws-mirror-list-legal]"
            ),
        ),
    ],
    list_in_region: [
        ("ecr", {"to": f"{ECR}/dev", **SOURCE}, "pass", ""),
        (
            "elsewhere",
            {"to": "registry.lab:5000/dev", **SOURCE},
            "fail",
            (
                "trainers: list.to=registry.lab:5000/dev: is not an ECR registry, so no repository can be created "
                f"for it; {TO_FIX}"
            ),
        ),
        (
            "region",
            {"to": f"{ECR.replace('east', 'west')}/dev", **SOURCE},
            "fail",
            (
                f"trainers: list.to={ECR.replace('east', 'west')}/dev: is in us-west-1, and the repositories are made "
                f"in us-east-1; {TO_FIX}"
            ),
        ),
        (
            "no-path",
            {"to": ECR, **SOURCE},
            "fail",
            f"trainers: list.to={ECR}: has no path, though names are shared by the whole account; {TO_FIX}",
        ),
    ],
    list_tags_unique: [
        ("unique", {"unique_tags": True}, "pass", ""),
        (
            "moving",
            {"unique_tags": False},
            "fail",
            (
                "trainers: list.unique_tags=false: the repositories keep tags immutable; write unique_tags: true in "
                "the list [aws-mirror-list-tags]"
            ),
        ),
    ],
}


def test_case(case) -> None:
    case.check()


@pytest.mark.parametrize(
    ("to", "unique", "statuses"),
    [(f"{ECR}/dev", True, ["pass", "pass"]), ("quay.io/dev", False, ["fail", "fail"])],
)
def test_judge_mirror_list(to: str, unique: bool, statuses: list[str]) -> None:
    assert [each.status for each in validate_mirror_list(to, unique, "us-east-1")] == [
        Status(each) for each in statuses
    ]
