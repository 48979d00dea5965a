"""ImageMirror: where images of other registries go, and who may put them there from CI without a stored key."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack, cast

import pulumi
from pulumi_aws import iam

from gpufleet.aws.ecr_repository import ecr_repository, lifecycle_policy
from gpufleet.aws.partition import partition
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.aws.image_mirror import validate_image_mirror

ISSUER = "token.actions.githubusercontent.com"
AUDIENCE = "sts.amazonaws.com"
"""What aws-actions/configure-aws-credentials asks GitHub for: docs.github.com/actions, "OIDC in AWS"."""
SESSION_SECONDS = 4 * 3600
"""The longest that a run may ask for: the first copy of a list of images of 20 GB takes more than the usual hour."""
_LOOKING = (
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:DescribeImages",
    "ecr:DescribeRepositories",
    "ecr:GetDownloadUrlForLayer",
)
_PUSHING = ("ecr:CompleteLayerUpload", "ecr:InitiateLayerUpload", "ecr:PutImage", "ecr:UploadLayerPart")


class ImageMirrorConfig(TypedDict):
    """The workflow that fills the repositories of a list of images, and how long images stay."""

    github_repository: NotRequired[str]
    """ORGANISATION/NAME whose workflows keep the images. Default: none, and no identity is made."""
    github_branch: NotRequired[str]
    """Branch whose workflow may push. Default main, where there is no github_environment."""
    github_environment: NotRequired[str]
    """Environment of GitHub whose jobs may push, in place of a branch: its own rules say who may use it."""
    provider_arn: NotRequired[pulumi.Input[str]]
    """The account's identity provider for GitHub, where it has one: an account has no more than one."""
    untagged_days: NotRequired[int]
    """Days after which an image without a tag goes. Default 14."""
    kept_images: NotRequired[int]
    """Images that stay in each repository, newest first. Default: all, as a job's record may name them."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: AES-256 with a key of AWS. A change replaces the repository."""


class ImageMirrorArgs(ImageMirrorConfig):
    """The same, and the repositories."""

    region: NotRequired[str]
    """Region of the registry, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    repositories: Sequence[str]
    """Names of repositories to make, for instance [lab/pytorch]: the path of the list's `to`, and each image's."""
    existing_repositories: NotRequired[Sequence[str]]
    """Names of repositories that the list pushes to and that are made elsewhere."""
    erase: NotRequired[bool]
    """True: destroy deletes the repositories with their images, once an up has recorded it. Default false: they are
    protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def trust_github(provider_arn: str, repository: str, subject: str) -> str:
    """A trust policy (JSON) for one subject of one repository's workflows.

    Source: docs.github.com/en/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-aws
    """
    conditions = {f"{ISSUER}:aud": AUDIENCE, f"{ISSUER}:sub": f"repo:{repository}:{subject}"}
    statement = {
        "Effect": "Allow",
        "Principal": {"Federated": provider_arn},
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": conditions},
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def registry_rights(region: str, repositories: Sequence[str], *, push: bool) -> str:
    """What a role may do (JSON): log in, look at these repositories, and push to them if asked.

    Source: docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html; Describe calls are what
    `gpufleet images` asks before it pushes. A login has no resource that it could be narrowed to.
    """
    names = [f"arn:{partition(region)}:ecr:{region}:*:repository/{name}" for name in repositories]
    statements: list[dict[str, Any]] = [
        {"Sid": "LogIn", "Effect": "Allow", "Action": ["ecr:GetAuthorizationToken"], "Resource": "*"},
        {"Sid": "Look", "Effect": "Allow", "Action": list(_LOOKING), "Resource": names},
    ]
    if push:
        statements.append({"Sid": "Push", "Effect": "Allow", "Action": list(_PUSHING), "Resource": names})
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


class ImageMirror(Component):
    """Repositories with immutable tags and a scan on each push, and two roles for GitHub's workflows: to push from
    one branch or environment, and to read from pull requests.

    Repositories and their lifecycle are protected, as Registry's are.
    """

    repository_urls: pulumi.Output[Mapping[str, str]]
    """Name of each repository that is made here, to the name under which its images are pushed and pulled."""
    push_role_arn: pulumi.Output[str | None]
    """For the workflow's `role-to-assume`; None without a repository of GitHub."""
    look_role_arn: pulumi.Output[str | None]
    """The same on pull requests."""

    def __init__(
        self, name: str, args: ImageMirrorArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[ImageMirrorArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: ImageMirrorArgs) -> list[Finding]:
        return validate_image_mirror(args)

    def create(self, name: str, args: ImageMirrorArgs) -> None:
        # A pattern that fits every tag keeps the newest of all; tags are immutable all the same.
        counted = ["*"] if "kept_images" in args else []
        policy = lifecycle_policy(counted, int(args.get("untagged_days", 14)), int(args.get("kept_images", 1)))
        urls = {
            repository: ecr_repository(
                self,
                f"{name}-{repository}",
                repository,
                mutable=[],
                policy=policy,
                key=args.get("kms_key_arn"),
                erase=bool(args.get("erase", False)),
            ).repository_url
            for repository in args["repositories"]
        }
        self.repository_urls = pulumi.Output.from_input(cast("Mapping[str, str]", urls))
        self.push_role_arn = pulumi.Output.from_input(None)
        self.look_role_arn = pulumi.Output.from_input(None)
        if "github_repository" in args:
            self._identities(name, args, args["github_repository"])

    def _identities(self, name: str, args: ImageMirrorArgs, github: str) -> None:
        provider = args.get("provider_arn")
        if provider is None:
            provider = iam.OpenIdConnectProvider(
                f"{name}-github",
                url=f"https://{ISSUER}",
                client_id_lists=[AUDIENCE],
                tags=self.tags(f"{name}-github"),
                opts=self.child(),
            ).arn
        pushes = f"ref:refs/heads/{args.get('github_branch', 'main')}"
        if "github_environment" in args:
            pushes = f"environment:{args['github_environment']}"
        self.push_role_arn = self._role(f"{name}-push", args, provider, github, pushes)
        # GitHub gives workflows of pull requests from forks no token, whatever the role says.
        self.look_role_arn = self._role(f"{name}-look", args, provider, github, "pull_request")

    def _role(
        self, name: str, args: ImageMirrorArgs, provider: pulumi.Input[str], github: str, subject: str
    ) -> pulumi.Output[str | None]:
        role = iam.Role(
            name,
            assume_role_policy=pulumi.Output.from_input(provider).apply(lambda arn: trust_github(arn, github, subject)),
            max_session_duration=SESSION_SECONDS,
            tags=self.tags(name),
            opts=self.child(),
        )
        repositories = [*args["repositories"], *args.get("existing_repositories", [])]
        rights = registry_rights(args["region"], repositories, push=subject != "pull_request")
        policy = iam.RolePolicy(f"{name}-rights", role=role.name, policy=rights, opts=self.child())
        return with_dependencies(role.arn, policy)
