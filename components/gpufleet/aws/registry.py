"""Registry: ECR repositories for a team's images, and caches of the public registries it builds on."""

import json
from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict, cast

import pulumi
from pulumi_aws import ecr

from gpufleet.refusal import refuse_or_warn
from gpufleet.rules import judge_arguments, judge_registry
from gpufleet.rules.aws.registry_host import judge_registry_host


class RegistryArgs(TypedDict):
    """Which repositories there are, how long images stay, and which public registries are cached."""

    region: str
    """Region of the registry, for instance us-east-1."""
    repositories: NotRequired[Sequence[str]]
    """Names of repositories to make, for instance [training/llm]: lower case, parts joined by . _ - or /."""
    existing_repositories: NotRequired[Sequence[str]]
    """Names of repositories that exist; nothing about them is changed, their URLs are among the outputs."""
    account_id: NotRequired[pulumi.Input[str]]
    """The account of existing repositories. Needed when no repository is made here."""
    mutable_tags: NotRequired[Sequence[str]]
    """Tags that may be overwritten, with * as wildcard, at most 5. Default [dev*]. All other tags are immutable, so
    that a tag in a job's record always means the same image."""
    untagged_days: NotRequired[int]
    """Days after which an image without a tag goes. Default 14."""
    kept_mutable: NotRequired[int]
    """Images that stay per mutable tag pattern, newest first. Default 30."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: AES-256 with a key of AWS. A change replaces the repository."""
    pull_through: NotRequired[Mapping[str, str]]
    """Prefix of the cached names to the public registry, for instance {"quay": "quay.io"}. nvcr.io is not supported
    by AWS: mirror its images into a repository. Prefixes are shared by the whole account and region."""
    credentials: NotRequired[Mapping[str, pulumi.Input[str]]]
    """Prefix to the ARN of a Secrets Manager secret (its name begins with ecr-pullthroughcache/), for upstreams that
    want one: Docker Hub, GHCR, GitLab, Azure and Chainguard."""
    erase: NotRequired[bool]
    """True: destroy deletes the repositories with their images, once an up has recorded it. Default false: they are
    protected."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


DEFAULT_MUTABLE = ("dev*",)


def lifecycle_policy(mutable_tags: Sequence[str], untagged_days: int, kept_mutable: int) -> str:
    """Lifecycle policy (JSON) of a repository: untagged images age out, each mutable pattern keeps its newest.

    Images with an immutable tag are never expired: a finished job's record may name them.
    https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html
    """
    untagged = {
        "rulePriority": 1,
        "description": f"untagged images go after {untagged_days} days",
        "selection": {
            "tagStatus": "untagged",
            "countType": "sinceImagePushed",
            "countUnit": "days",
            "countNumber": untagged_days,
        },
        "action": {"type": "expire"},
    }
    mutable = [
        {
            "rulePriority": priority,
            "description": f"the newest {kept_mutable} of {pattern} stay",
            "selection": {
                "tagStatus": "tagged",
                "tagPatternList": [pattern],
                "countType": "imageCountMoreThan",
                "countNumber": kept_mutable,
            },
            "action": {"type": "expire"},
        }
        for priority, pattern in enumerate(mutable_tags, start=2)
    ]
    return json.dumps({"rules": [untagged, *mutable]})


class Registry(pulumi.ComponentResource):
    """ECR repositories with immutable tags, a scan on each push and a lifecycle, and pull-through caches.

    Data outlives compute: repositories and their lifecycle are protected, so that
    ``pulumi destroy --exclude-protected`` keeps them in the state and the next ``up`` goes on with the same images.

    Raises :class:`gpufleet.refusal.Refused` with every fault of ``args`` before anything is registered.
    """

    host: pulumi.Output[str]
    """What docker login takes, for instance 123456789012.dkr.ecr.us-east-1.amazonaws.com."""
    repository_urls: pulumi.Output[Mapping[str, str]]
    """Repository name to the name under which images are pushed and pulled."""
    cache_prefixes: pulumi.Output[Mapping[str, str]]
    """Public registry to the prefix that replaces its host in image names, for instance quay.io to HOST/quay."""

    def __init__(self, name: str, args: RegistryArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        findings = [*judge_arguments(args, RegistryArgs), *judge_registry(args), *judge_registry_host(args)]
        refuse_or_warn(name, findings)
        # No inputs: a component's children wait until every value that the component registers with is known.
        super().__init__("gpufleet-aws:index:Registry", name, {}, opts)
        made = [self._repository(name, repository, args) for repository in args.get("repositories", [])]
        if made:
            self.host = made[0].repository_url.apply(lambda url: url.split("/", 1)[0])
        else:
            self.host = pulumi.Output.concat(args.get("account_id", ""), ".dkr.ecr.", args["region"], ".amazonaws.com")
        urls = {
            repository: pulumi.Output.concat(self.host, "/", repository)
            for repository in [*args.get("repositories", []), *args.get("existing_repositories", [])]
        }
        # from_input also waits for what is inside a mapping; only its type does not say so.
        self.repository_urls = pulumi.Output.from_input(cast("Mapping[str, str]", urls))
        upstreams = args.get("pull_through", {})
        for prefix, upstream in upstreams.items():
            ecr.PullThroughCacheRule(
                f"{name}-cache-{prefix}",
                ecr_repository_prefix=prefix,
                upstream_registry_url=upstream,
                credential_arn=args.get("credentials", {}).get(prefix),
                opts=pulumi.ResourceOptions(parent=self),
            )
        prefixes = {upstream: pulumi.Output.concat(self.host, "/", prefix) for prefix, upstream in upstreams.items()}
        self.cache_prefixes = pulumi.Output.from_input(cast("Mapping[str, str]", prefixes))
        self.register_outputs(
            {
                "host": self.host,
                "repository_urls": self.repository_urls,
                "cache_prefixes": self.cache_prefixes,
            }
        )

    def _repository(self, name: str, repository: str, args: RegistryArgs) -> "ecr.Repository":
        """One repository with its lifecycle. Its name is the one asked for: people type it into docker push."""
        child = f"{name}-{repository}"
        erase = bool(args.get("erase", False))
        # A name of our own is taken until the old repository is gone.
        kept = pulumi.ResourceOptions(parent=self, protect=not erase, delete_before_replace=True)
        mutable = list(args.get("mutable_tags", DEFAULT_MUTABLE))
        key = args.get("kms_key_arn")
        made = ecr.Repository(
            child,
            name=repository,
            image_tag_mutability="IMMUTABLE_WITH_EXCLUSION" if mutable else "IMMUTABLE",
            image_tag_mutability_exclusion_filters=[
                ecr.RepositoryImageTagMutabilityExclusionFilterArgs(filter=pattern, filter_type="WILDCARD")
                for pattern in mutable
            ]
            or None,
            image_scanning_configuration=ecr.RepositoryImageScanningConfigurationArgs(scan_on_push=True),
            encryption_configurations=[
                ecr.RepositoryEncryptionConfigurationArgs(encryption_type="AES256")
                if key is None
                else ecr.RepositoryEncryptionConfigurationArgs(encryption_type="KMS", kms_key=key)
            ],
            # Without it ECR refuses to delete a repository that holds images.
            force_delete=erase,
            tags={**args.get("tags", {}), "Name": child},
            opts=kept,
        )
        policy = lifecycle_policy(mutable, int(args.get("untagged_days", 14)), int(args.get("kept_mutable", 30)))
        ecr.LifecyclePolicy(f"{child}-lifecycle", repository=made.name, policy=policy, opts=kept)
        return made
