"""Registry: exact inputs of every child, what is kept on destroy, and the names that images get."""

import json
from typing import cast

import pulumi
import pytest

from gpufleet.aws.ecr_repository import lifecycle_policy
from gpufleet.aws.registry import Registry, RegistryArgs
from tests.components.recorder import ACCOUNT, MARK, UNKNOWN, Recording, construct, refusal

REPOSITORY = "aws:ecr/repository:Repository"
LIFECYCLE = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
TEMPLATE = "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate"
POLICY = "aws:iam/rolePolicy:RolePolicy"
CACHE = "aws:ecr/pullThroughCacheRule:PullThroughCacheRule"
HOST = f"{ACCOUNT}.dkr.ecr.us-east-1.invalid"
TAGS = {"owner": "ml", **MARK}
SECRET = f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:ecr-pullthroughcache/docker-AbCdEf"
BASE = {"region": "us-east-1", "repositories": ["training/llm", "tools"], "tags": TAGS}


def build(preview: bool, /, **changes: object) -> Recording[Registry]:
    """A registry called images: the base with ``changes``; None takes an argument away."""
    args = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: Registry("images", cast(RegistryArgs, args)), preview)


def known(preview: bool, value: object) -> object:
    """``value`` where the cloud has made it, unknown in preview."""
    return UNKNOWN if preview else value


def expected_repository(repository: str, **changes: object) -> dict[str, object]:
    """The default repository with ``changes``; None takes a property away."""
    inputs: dict[str, object] = {
        "name": repository,
        "imageTagMutability": "IMMUTABLE_WITH_EXCLUSION",
        "imageTagMutabilityExclusionFilters": [{"filter": "dev*", "filterType": "WILDCARD"}],
        "imageScanningConfiguration": {"scanOnPush": True},
        "encryptionConfigurations": [{"encryptionType": "AES256"}],
        "forceDelete": False,
        "tags": {**TAGS, "Name": f"images-{repository}"},
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


def test_repositories_by_default(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(REPOSITORY) == {
        "images-training/llm": expected_repository("training/llm"),
        "images-tools": expected_repository("tools"),
    }
    policy = lifecycle_policy(["dev*"], 14, 30)
    assert recording.inputs(LIFECYCLE) == {
        "images-training/llm-lifecycle": {"repository": "training/llm", "policy": policy},
        "images-tools-lifecycle": {"repository": "tools", "policy": policy},
    }
    assert {each.type for each in recording.resources} == {"gpufleet-aws:index:Registry", REPOSITORY, LIFECYCLE}


@pytest.mark.parametrize("erase", [False, True])
def test_images_are_protected_unless_erase_is_asked_for(erase: bool, preview: bool) -> None:
    recording = build(preview, erase=erase, repositories=["tools"], pull_through={"quay": "quay.io"})
    protected = {each.name: bool(each.protect) for each in recording.resources if each.custom}
    assert protected == {
        "images-tools": not erase,
        "images-tools-lifecycle": not erase,
        "images-cache-quay-template": False,
        "images-cache-quay": False,
    }
    assert recording.inputs(REPOSITORY) == {"images-tools": expected_repository("tools", forceDelete=erase)}
    assert not any(each.retain_on_delete for each in recording.resources)


def test_every_choice_of_a_repository(preview: bool) -> None:
    key = f"arn:aws:kms:us-east-1:{ACCOUNT}:key/k"
    recording = build(
        preview,
        repositories=["tools"],
        mutable_tags=["dev-*", "*-wip"],
        kms_key_arn=key,
        untagged_days=3.0,
        kept_mutable=5.0,
    )
    assert recording.inputs(REPOSITORY) == {
        "images-tools": expected_repository(
            "tools",
            imageTagMutabilityExclusionFilters=[
                {"filter": "dev-*", "filterType": "WILDCARD"},
                {"filter": "*-wip", "filterType": "WILDCARD"},
            ],
            encryptionConfigurations=[{"encryptionType": "KMS", "kmsKey": key}],
        )
    }
    assert recording.one(LIFECYCLE).inputs["policy"] == lifecycle_policy(["dev-*", "*-wip"], 3, 5)


def test_no_mutable_tags_at_all(preview: bool) -> None:
    recording = build(preview, repositories=["tools"], mutable_tags=[])
    assert recording.inputs(REPOSITORY) == {
        "images-tools": expected_repository(
            "tools", imageTagMutability="IMMUTABLE", imageTagMutabilityExclusionFilters=None
        )
    }


def test_caches_of_public_registries(preview: bool) -> None:
    recording = build(
        preview,
        pull_through={"quay": "quay.io", "hub": "registry-1.docker.io"},
        credentials={"hub": SECRET},
    )
    assert recording.inputs(CACHE) == {
        "images-cache-quay": {"ecrRepositoryPrefix": "quay", "upstreamRegistryUrl": "quay.io"},
        "images-cache-hub": {
            "ecrRepositoryPrefix": "hub",
            "upstreamRegistryUrl": "registry-1.docker.io",
            "credentialArn": SECRET,
        },
    }
    prefixes = {"quay.io": f"{HOST}/quay", "registry-1.docker.io": f"{HOST}/hub"}
    assert recording.outputs["images"]["cache_prefixes"] == known(preview, prefixes)


def test_repositories_of_caches_have_a_lifecycle(preview: bool) -> None:
    recording = build(preview, pull_through={"quay": "quay.io"}, untagged_days=3)
    assert recording.inputs(TEMPLATE) == {
        "images-cache-quay-template": {
            "prefix": "quay",
            "description": "Images of quay.io",
            "appliedFors": ["PULL_THROUGH_CACHE"],
            "imageTagMutability": "MUTABLE",
            "lifecyclePolicy": lifecycle_policy([], 3, 0),
        }
    }
    assert recording.of(POLICY) == []


@pytest.mark.parametrize(("region", "partition"), [("us-east-1", "aws"), ("us-gov-west-1", "aws-us-gov")])
def test_roles_that_fill_caches(region: str, partition: str, preview: bool) -> None:
    upstreams = {"quay": "quay.io", "k8s": "registry.k8s.io"}
    recording = build(preview, region=region, pull_through=upstreams, pull_role_names={"nodes": "node-role"})
    (made,) = recording.inputs(POLICY).items()
    assert (made[0], made[1]["role"]) == ("images-pull-nodes", "node-role")
    assert json.loads(str(made[1]["policy"]))["Statement"] == [
        {
            "Sid": "Caches",
            "Effect": "Allow",
            "Action": ["ecr:BatchImportUpstreamImage", "ecr:CreateRepository"],
            "Resource": [f"arn:{partition}:ecr:{region}:*:repository/{prefix}/*" for prefix in upstreams],
        }
    ]
    assert build(preview, pull_role_names={"nodes": "node-role"}).of(POLICY) == []


def test_existing_repositories_are_left_alone(preview: bool) -> None:
    recording = build(preview, repositories=None, existing_repositories=["theirs"], account_id=ACCOUNT)
    assert [each for each in recording.resources if each.custom] == []
    host = f"{ACCOUNT}.dkr.ecr.us-east-1.amazonaws.com"
    assert recording.outputs["images"] == {
        "host": host,
        "repository_urls": {"theirs": f"{host}/theirs"},
        "cache_prefixes": {},
    }


def test_a_registry_that_holds_nothing_needs_no_account(preview: bool) -> None:
    recording = build(preview, repositories=None)
    assert [each for each in recording.resources if each.custom] == []
    assert recording.outputs["images"] == {"host": "", "repository_urls": {}, "cache_prefixes": {}}


def test_existing_repositories_beside_new_ones(preview: bool) -> None:
    recording = build(preview, existing_repositories=["theirs"])
    assert recording.outputs["images"] == {
        "host": known(preview, HOST),
        "repository_urls": known(
            preview,
            {"training/llm": f"{HOST}/training/llm", "tools": f"{HOST}/tools", "theirs": f"{HOST}/theirs"},
        ),
        "cache_prefixes": {},
    }


def test_options_of_children(preview: bool) -> None:
    recording = build(preview, pull_through={"quay": "quay.io"})
    for each in recording.resources:
        assert each.name.startswith("images")
        assert each.parent == ("images" if each.custom else "project-stack")
        # A repository that came before its template would keep everything for ever.
        first = {"images-cache-quay-template"} if each.type == CACHE else frozenset()
        assert each.depends_on == first, f"{each.name} waits for more than its inputs"
    assert {each.delete_before_replace for each in recording.of(REPOSITORY)} == {True}
    assert recording.one("gpufleet-aws:index:Registry").inputs == {}
    assert recording.one(LIFECYCLE, "images-tools-lifecycle").property_dependencies == {
        "repository": frozenset({"images-tools"})
    }


def test_inputs_from_other_resources_may_be_outputs(preview: bool) -> None:
    secret = pulumi.Output.from_input(SECRET)
    rules = {"hub": "registry-1.docker.io"}
    recording = build(preview, pull_through=rules, credentials={"hub": secret})
    assert recording.one(CACHE).inputs["credentialArn"] == SECRET


def test_lifecycle_expires_nothing_with_an_immutable_tag() -> None:
    assert json.loads(lifecycle_policy(["dev*", "wip*"], 14, 30)) == {
        "rules": [
            {
                "rulePriority": 1,
                "description": "untagged images go after 14 days",
                "selection": {
                    "tagStatus": "untagged",
                    "countType": "sinceImagePushed",
                    "countUnit": "days",
                    "countNumber": 14,
                },
                "action": {"type": "expire"},
            },
            *(
                {
                    "rulePriority": priority,
                    "description": f"the newest 30 of {pattern} stay",
                    "selection": {
                        "tagStatus": "tagged",
                        "tagPatternList": [pattern],
                        "countType": "imageCountMoreThan",
                        "countNumber": 30,
                    },
                    "action": {"type": "expire"},
                }
                for priority, pattern in ((2, "dev*"), (3, "wip*"))
            ),
        ]
    }


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "a registry that AWS cannot cache": (
        {"pull_through": {"ngc": "nvcr.io"}},
        [
            "pull_through.ngc=nvcr.io: ECR has no pull-through cache for NVIDIA's registry; copy its images into your "
            "own repository, for instance in CI [aws-registry-upstream]"
        ],
    ),
    "a login that is not given": (
        {"pull_through": {"hub": "registry-1.docker.io"}},
        [
            "credentials.hub=null: registry-1.docker.io requires a login; give the ARN of a Secrets Manager secret "
            "whose "
            "name begins with ecr-pullthroughcache/ [aws-registry-login]"
        ],
    ),
    "an account that nothing tells": (
        {"repositories": [], "existing_repositories": ["theirs"]},
        [
            "account_id=null: is required by existing_repositories when no repository is created; give the account "
            "of the registry, or a name in repositories [aws-registry-account]"
        ],
    ),
    "several faults at once": (
        {"repositories": ["Bad Name"], "untagged_days": 0, "mutable_tags": ["a"] * 6},
        [
            "repositories=Bad Name: is not a valid ECR name; use 2 to 256 lower-case letters and digits in parts "
            "joined by . _ - or /, such as training/llm [aws-registry-name]",
            "mutable_tags=[a, a, a, a, a, a]: is more than five patterns; use at most five; * is a wildcard "
            "[aws-registry-mutable-tags]",
            "untagged_days=0: is below 1; use 1 or more [any-argument-least]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(RegistryArgs, {**BASE, **changes})
    assert refusal(lambda: Registry("images", args), preview) == [f"images: {line}" for line in lines]
