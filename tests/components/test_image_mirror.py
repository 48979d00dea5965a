"""ImageMirror: repositories, the two roles of CI, and what each of them may do."""

import json
from typing import cast

import pulumi
import pytest

from gpufleet.aws.ecr_repository import lifecycle_policy
from gpufleet.aws.image_mirror import ImageMirror, ImageMirrorArgs, registry_rights, trust_github
from tests.components.recorder import ACCOUNT, MARK, UNKNOWN, Recording, construct, refusal

REPOSITORY = "aws:ecr/repository:Repository"
LIFECYCLE = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
PROVIDER = "aws:iam/openIdConnectProvider:OpenIdConnectProvider"
ROLE = "aws:iam/role:Role"
RIGHTS = "aws:iam/rolePolicy:RolePolicy"
TAGS = {"owner": "ml", **MARK}
THEIRS = f"arn:aws:iam::{ACCOUNT}:oidc-provider/token.actions.githubusercontent.com"
BASE = {"region": "us-east-1", "repositories": ["lab/pytorch", "lab/cuda"], "tags": TAGS}


def build(preview: bool, /, **changes: object) -> Recording[ImageMirror]:
    """A mirror called mirror: the base with ``changes``."""
    return construct(lambda: ImageMirror("mirror", cast(ImageMirrorArgs, {**BASE, **changes})), preview)


def test_repositories_keep_every_tag(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(REPOSITORY) == {
        f"mirror-{name}": {
            "name": name,
            "imageTagMutability": "IMMUTABLE",
            "imageScanningConfiguration": {"scanOnPush": True},
            "encryptionConfigurations": [{"encryptionType": "AES256"}],
            "forceDelete": False,
            "tags": {**TAGS, "Name": f"mirror-{name}"},
        }
        for name in BASE["repositories"]
    }
    assert recording.inputs(LIFECYCLE) == {
        f"mirror-{name}-lifecycle": {"repository": name, "policy": lifecycle_policy([], 14, 1)}
        for name in BASE["repositories"]
    }
    assert {each.type for each in recording.resources} == {"gpufleet-aws:index:ImageMirror", REPOSITORY, LIFECYCLE}
    assert {each.protect for each in recording.of(REPOSITORY)} == {True}
    host = f"{ACCOUNT}.dkr.ecr.us-east-1.invalid"
    urls = {name: f"{host}/mirror-{name}" for name in BASE["repositories"]}
    assert recording.outputs["mirror"].pop("repository_urls") == (UNKNOWN if preview else urls)
    assert recording.outputs["mirror"] == {}, "roles that nobody asked for are null"


def test_kept_images_erase_and_key(preview: bool) -> None:
    key = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/k"
    recording = build(preview, kept_images=5.0, untagged_days=3.0, erase=True, kms_key_arn=key)
    [policy] = {each["policy"] for each in recording.inputs(LIFECYCLE).values()}
    assert policy == lifecycle_policy(["*"], 3, 5)
    assert json.loads(policy)["rules"][1]["selection"]["tagPatternList"] == ["*"]
    for each in recording.inputs(REPOSITORY).values():
        assert (each["forceDelete"], each["imageTagMutability"]) == (True, "IMMUTABLE")
        assert each["encryptionConfigurations"] == [{"encryptionType": "KMS", "kmsKey": key}]
    assert {each.protect for each in recording.of(REPOSITORY)} <= {False, None}


def test_a_branch_pushes_and_pull_requests_look(preview: bool) -> None:
    recording = build(preview, github_repository="lab/images", existing_repositories=["dev/training"])
    assert recording.inputs(PROVIDER) == {
        "mirror-github": {
            "url": "https://token.actions.githubusercontent.com",
            "clientIdLists": ["sts.amazonaws.com"],
            "tags": {**TAGS, "Name": "mirror-github"},
        }
    }
    provider = f"arn:aws:mock::{ACCOUNT}:mirror-github"
    subjects = {"mirror-push": "ref:refs/heads/main", "mirror-look": "pull_request"}
    assert recording.inputs(ROLE) == {
        name: {
            "assumeRolePolicy": UNKNOWN if preview else trust_github(provider, "lab/images", subject),
            "maxSessionDuration": 14400,
            "tags": {**TAGS, "Name": name},
        }
        for name, subject in subjects.items()
    }
    names = [*BASE["repositories"], "dev/training"]
    assert recording.inputs(RIGHTS) == {
        f"{name}-rights": {
            "role": UNKNOWN if preview else name,
            "policy": registry_rights("us-east-1", names, push=name == "mirror-push"),
        }
        for name in subjects
    }
    outputs = recording.outputs["mirror"]
    assert outputs["push_role_arn"] == (UNKNOWN if preview else f"arn:aws:mock::{ACCOUNT}:mirror-push")
    assert outputs["look_role_arn"] == (UNKNOWN if preview else f"arn:aws:mock::{ACCOUNT}:mirror-look")


@pytest.mark.parametrize("provider", [THEIRS, pulumi.Output.from_input(THEIRS)], ids=["text", "output"])
def test_an_environment_and_the_accounts_own_provider(provider: pulumi.Input[str], preview: bool) -> None:
    recording = build(preview, github_repository="lab/images", github_environment="images", provider_arn=provider)
    assert recording.inputs(PROVIDER) == {}
    expected = trust_github(THEIRS, "lab/images", "environment:images")
    assert recording.one(ROLE, "mirror-push").inputs["assumeRolePolicy"] == expected


def test_trust_is_of_one_subject_letter_by_letter() -> None:
    [statement] = json.loads(trust_github(THEIRS, "lab/images", "pull_request"))["Statement"]
    assert statement == {
        "Effect": "Allow",
        "Principal": {"Federated": THEIRS},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {
            "StringEquals": {
                "token.actions.githubusercontent.com:aud": "sts.amazonaws.com",
                "token.actions.githubusercontent.com:sub": "repo:lab/images:pull_request",
            }
        },
    }


def test_rights_are_of_the_lists_repositories_and_looking_changes_nothing() -> None:
    pushing = json.loads(registry_rights("cn-north-1", ["lab/cuda"], push=True))["Statement"]
    looking = json.loads(registry_rights("cn-north-1", ["lab/cuda"], push=False))["Statement"]
    assert pushing[:2] == looking
    assert [each["Action"] for each in pushing if each["Resource"] == "*"] == [["ecr:GetAuthorizationToken"]]
    assert {name for each in pushing if each["Resource"] != "*" for name in each["Resource"]} == {
        "arn:aws-cn:ecr:cn-north-1:*:repository/lab/cuda"
    }
    actions = [action.partition(":")[2] for each in looking for action in each["Action"]]
    assert all(action.startswith(("Get", "Describe", "BatchGet", "BatchCheck")) for action in actions)
    assert not [each for each in pushing for action in each["Action"] if "Delete" in action or "*" in action]


def test_refuses_all_faults_at_once(preview: bool) -> None:
    args = {
        **BASE,
        "repositories": ["Lab"],
        "github_repository": "lab/*",
        "github_branch": "refs/heads/main",
        "github_environment": "images",
        "provider_arn": "arn:aws:iam::000000000000:oidc-provider/gitlab.com",
        "kept_images": 0,
    }
    lines = refusal(lambda: ImageMirror("mirror", cast(ImageMirrorArgs, args)), preview)
    assert [line.rpartition(" ")[2] for line in lines] == [
        "[aws-registry-name]",
        "[aws-mirror-subjects-exclusive]",
        "[any-argument-least]",
        "[aws-mirror-github]",
        "[aws-mirror-subject]",
        "[aws-mirror-provider]",
    ]
