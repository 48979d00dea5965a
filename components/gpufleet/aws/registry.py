"""Registry: ECR repositories for a team's images, and caches of the public registries it builds on."""

import json
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict, Unpack, cast

import pulumi
from pulumi_aws import ecr, iam

from gpufleet.aws.ecr_repository import cache_statement, ecr_repository, lifecycle_policy
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding, validate_registry
from gpufleet.rules.aws.registry_host import validate_registry_host


class RegistryConfig(TypedDict):
    """Which repositories there are, how long images stay, and which public registries are cached."""

    repositories: NotRequired[Sequence[str]]
    """Names of repositories to make, for instance [training/llm]: lower case, parts joined by . _ - or /."""
    existing_repositories: NotRequired[Sequence[str]]
    """Names of repositories that exist; nothing about them is changed, their URLs are among the outputs."""
    account_id: NotRequired[pulumi.Input[str]]
    """The account of existing repositories and of caches. Needed for these when no repository is made here."""
    mutable_tags: NotRequired[Sequence[str]]
    """Tags that may be overwritten, with * as wildcard, at most 5. Default [dev*]. All other tags are immutable, so
    that a tag in a job's record always means the same image."""
    untagged_days: NotRequired[int]
    """Days after which an image without a tag goes, in caches too, where it is one whose tag has moved on. Default
    14."""
    kept_mutable: NotRequired[int]
    """Images that stay per mutable tag pattern, newest first. Default 30."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: AES-256 with a key of AWS. A change replaces the repository."""
    pull_through: NotRequired[Mapping[str, str]]
    """Prefix of the cached names to the public registry, for instance {"quay": "quay.io"}. nvcr.io is not supported
    by AWS: mirror its images into a repository. Prefixes are shared by the whole account and region. What is cached
    has no tags, and AES-256 with a key of AWS: for others ECR wants its own role."""
    credentials: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Prefix to the ARN of a Secrets Manager secret (its name begins with ecr-pullthroughcache/), for upstreams that
    want one: Docker Hub, GHCR, GitLab, Azure and Chainguard."""


class RegistryArgs(RegistryConfig):
    """The same, where it is, and whether the images stay."""

    region: NotRequired[str]
    """Region of the registry, for instance us-east-1. Default: the provider\'s; another one is rejected."""
    pull_role_names: NotRequired[Mapping[str, pulumi.Input[str]]]
    """With ``pull_through``: a short name of your choice to the name of an IAM role, of nodes for instance, that may
    pull what a cache does not hold yet: ECR makes its repository in the role's name. Default: none; then somebody who
    may do that pulls each image for the first time."""
    erase: NotRequired[bool]
    """True: destroy deletes the repositories with their images, once an up has recorded it. Default false: they are
    protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


DEFAULT_MUTABLE = ("dev*",)


class Registry(Component):
    """ECR repositories with immutable tags, a scan on each push and a lifecycle, and pull-through caches.

    Data outlives compute: repositories and their lifecycle are protected, so that
    ``pulumi destroy --exclude-protected`` keeps them in the state and the next ``up`` continues with the same images.
    """

    host: pulumi.Output[str]
    """What docker login takes, for instance 123456789012.dkr.ecr.us-east-1.amazonaws.com. Empty for a registry that
    holds nothing."""
    repository_urls: pulumi.Output[Mapping[str, str]]
    """Repository name to the name under which images are pushed and pulled."""
    cache_prefixes: pulumi.Output[Mapping[str, str]]
    """Public registry to the prefix that replaces its host in image names, for instance quay.io to HOST/quay."""

    def __init__(
        self, name: str, args: RegistryArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[RegistryArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: RegistryArgs) -> list[Finding]:
        return [*validate_registry(args), *validate_registry_host(args)]

    def create(self, name: str, args: RegistryArgs) -> None:
        made = [self._repository(name, repository, args) for repository in args.get("repositories", [])]
        if made:
            self.host = made[0].repository_url.apply(lambda url: url.split("/", 1)[0])
        elif "account_id" in args:
            self.host = pulumi.Output.concat(args["account_id"], ".dkr.ecr.", args["region"], ".amazonaws.com")
        else:
            self.host = pulumi.Output.from_input("")
        urls = {
            repository: pulumi.Output.concat(self.host, "/", repository)
            for repository in [*args.get("repositories", []), *args.get("existing_repositories", [])]
        }
        # from_input also waits for what is inside a mapping; only its type does not say so.
        self.repository_urls = pulumi.Output.from_input(cast("Mapping[str, str]", urls))
        upstreams = args.get("pull_through", {})
        for prefix, upstream in upstreams.items():
            # Before the rule: repositories that come before it have no lifecycle, and never get one. Tags or a key
            # would take a role for ECR (hashicorp/terraform-provider-aws, ecr_repository_creation_template).
            template = ecr.RepositoryCreationTemplate(
                f"{name}-cache-{prefix}-template",
                prefix=prefix,
                description=f"Images of {upstream}",
                applied_fors=["PULL_THROUGH_CACHE"],
                # A cache follows the tags of its upstream.
                image_tag_mutability="MUTABLE",
                lifecycle_policy=lifecycle_policy([], int(args.get("untagged_days", 14)), 0),
                opts=self.child(),
            )
            ecr.PullThroughCacheRule(
                f"{name}-cache-{prefix}",
                ecr_repository_prefix=prefix,
                upstream_registry_url=upstream,
                credential_arn=args.get("credentials", {}).get(prefix),
                opts=self.child(depends_on=[template]),
            )
        if upstreams:
            self._grant_pulls(name, args, upstreams)
        prefixes = {upstream: pulumi.Output.concat(self.host, "/", prefix) for prefix, upstream in upstreams.items()}
        self.cache_prefixes = pulumi.Output.from_input(cast("Mapping[str, str]", prefixes))

    def _grant_pulls(self, name: str, args: RegistryArgs, upstreams: Mapping[str, str]) -> None:
        """Let roles fill the caches."""
        statement = cache_statement(args["region"], upstreams)
        document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        for short, role in args.get("pull_role_names", {}).items():
            iam.RolePolicy(f"{name}-pull-{short}", role=role, policy=document, opts=self.child())

    def _repository(self, name: str, repository: str, args: RegistryArgs) -> "ecr.Repository":
        """One repository with its lifecycle."""
        mutable = list(args.get("mutable_tags", DEFAULT_MUTABLE))
        return ecr_repository(
            self,
            f"{name}-{repository}",
            repository,
            mutable=mutable,
            policy=lifecycle_policy(mutable, int(args.get("untagged_days", 14)), int(args.get("kept_mutable", 30))),
            key=args.get("kms_key_arn"),
            erase=bool(args.get("erase", False)),
        )
