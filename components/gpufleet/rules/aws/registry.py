"""Rules on a container registry (ECR)."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.generic import at_least, distinct
from gpufleet.rules.messages import join_words, nearest
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

OPEN_UPSTREAMS = ("public.ecr.aws", "quay.io", "registry.k8s.io")
LOGIN_UPSTREAMS = ("registry-1.docker.io", "ghcr.io", "registry.gitlab.com", "cgr.dev")
_LOGIN_PATTERN = re.compile(r"[a-z0-9]+\.azurecr\.io")
_ROLE_PATTERN = re.compile(r"\d{12}\.dkr\.ecr\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_NAME = re.compile(r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*")
_TAG_FILTER = re.compile(r"[0-9a-zA-Z._*-]{1,128}")
_SECRET = re.compile(r"arn:aws(-\w+)*:secretsmanager:[a-zA-Z0-9-:]+:secret:ecr-pullthroughcache/[a-zA-Z0-9/_+=.@-]+")


def needs_login(upstream: str) -> bool:
    """Whether ECR asks for a secret to pull from an upstream."""
    return upstream in LOGIN_UPSTREAMS or bool(_LOGIN_PATTERN.fullmatch(upstream))


@rule("aws-registry-name", Severity.ERROR)
def name_legal(*, argument: str, name: str, longest: int) -> Outcome:
    """Names of repositories and cache prefixes are lower case, in parts joined by . _ - or /; `longest` in characters.

    Source: repositoryName (2 to 256) and ecrRepositoryPrefix (2 to 30) of botocore's model of ecr.
    """
    if 2 <= len(name) <= longest and _NAME.fullmatch(name):
        return passed()
    fix = f"use 2 to {longest} lower-case letters and digits in parts joined by . _ - or /, such as training/llm"
    return failed(argument, name, "is not a valid ECR name", fix)


@rule("aws-registry-upstream", Severity.ERROR)
def upstream_known(*, prefix: str, upstream: str) -> Outcome:
    """ECR can cache the upstream registry.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html, whose list
    lacks nvcr.io (UnsupportedUpstreamRegistryException).
    """
    argument = f"pull_through.{prefix}"
    if upstream in OPEN_UPSTREAMS or needs_login(upstream) or _ROLE_PATTERN.fullmatch(upstream):
        return passed()
    if upstream.removeprefix("https://").partition("/")[0] == "nvcr.io":
        problem = "ECR has no pull-through cache for NVIDIA's registry"
        return failed(argument, upstream, problem, "copy its images into your own repository, for instance in CI")
    known = (*OPEN_UPSTREAMS, *LOGIN_UPSTREAMS, "<name>.azurecr.io")
    if upstream in ("docker.io", "index.docker.io", "hub.docker.com"):
        return failed(argument, upstream, "is not the host of Docker Hub's registry", "use registry-1.docker.io")
    near = nearest(upstream, known)
    fix = (f"did you mean {near}? " if near else "") + f"use {join_words(known)}"
    return failed(argument, upstream, "is not a registry that ECR can cache", fix)


@rule("aws-registry-login", Severity.ERROR)
def login_given(*, prefix: str, upstream: str, given: bool) -> Outcome:
    """An upstream that requires a login has a secret, and no other has.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache.html: Docker Hub, GitHub, GitLab,
    Azure and Chainguard require authentication with a Secrets Manager secret.
    """
    argument = f"credentials.{prefix}"
    if given is needs_login(upstream):
        return passed()
    if given:
        problem = f"{upstream} needs no login" if upstream else "pull_through has no such prefix"
        return failed(argument, "(a secret)", problem, "leave it out")
    fix = "give the ARN of a Secrets Manager secret whose name begins with ecr-pullthroughcache/"
    return failed(argument, None, f"{upstream} requires a login", fix)


@rule("aws-registry-secret", Severity.ERROR)
def secret_named(*, prefix: str, arn: str) -> Outcome:
    """The secret of an upstream has a name that ECR accepts.

    Source: credentialArn of botocore's model of ecr: the name begins with ecr-pullthroughcache/.
    """
    if _SECRET.fullmatch(arn):
        return passed()
    fix = "give the ARN of a Secrets Manager secret whose name begins with ecr-pullthroughcache/"
    return failed(f"credentials.{prefix}", arn, "is not a secret that ECR accepts", fix)


@rule("aws-registry-mutable-tags", Severity.ERROR)
def mutable_tags(*, filters: Sequence[str]) -> Outcome:
    """Mutable tags are given by at most five patterns of letters, digits and . _ - *.

    Source: ImageTagMutabilityExclusionFilters of botocore's model of ecr.
    """
    if len(filters) > 5:
        return failed("mutable_tags", list(filters), "is more than five patterns", "use at most five; * is a wildcard")
    wrong = [each for each in filters if not _TAG_FILTER.fullmatch(each)]
    if wrong:
        return failed(
            "mutable_tags", wrong, "is not a valid tag pattern", "use letters, digits and . _ -, with * as wildcard"
        )
    return passed()


@rule("aws-registry-tags-stay", Severity.WARNING)
def tags_stay(*, filters: Sequence[str]) -> Outcome:
    """Not every tag is mutable, so that a tag in a job's record always names the same image.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
    """
    if all(each.strip("*") for each in filters):
        return passed()
    return failed(
        "mutable_tags", list(filters), "lets every tag be overwritten", "use a narrower pattern, such as dev*"
    )


@rule("aws-registry-cache-filled", Severity.WARNING)
def cache_filled(*, role: str, prefix: str, creates: bool) -> Outcome:
    """A role that pulls through a cache may make the cache's repositories.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/pull-through-cache-iam.html: ecr:CreateRepository is
    required where the repository does not exist yet; AmazonEC2ContainerRegistryPullOnly does not have it. Repositories
    that somebody else has filled are pulled without.
    """
    if creates:
        return passed()
    problem = f"{role} cannot pull what the cache {prefix} does not hold yet: it may not make its repository"
    fix = f"allow it ecr:CreateRepository and ecr:BatchImportUpstreamImage on repository/{prefix}/*"
    return failed("node_role_arn", role, problem, fix)


def validate_registry(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a registry.

    Reads region, repositories (names), existing_repositories, mutable_tags (exclusions from immutability, for instance
    dev*), untagged_days, kept_mutable, pull_through (prefix to upstream host, for instance ghcr.io), credentials
    (prefix to secret ARN), tags.
    """
    names = coerce.texts(args, "repositories")
    filters = coerce.texts(args, "mutable_tags")
    upstreams = {prefix: host for prefix, host in coerce.mapping(args, "pull_through").items() if isinstance(host, str)}
    secrets = coerce.mapping(args, "credentials")
    findings = [
        validate_region(coerce.text(args, "region")),
        distinct(argument="repositories", values=(*names, *coerce.texts(args, "existing_repositories"))),
        *(name_legal(argument="repositories", name=name, longest=256) for name in names),
        *(name_legal(argument="pull_through", name=prefix, longest=30) for prefix in upstreams),
        mutable_tags(filters=filters),
        tags_stay(filters=filters),
        at_least(argument="untagged_days", value=coerce.whole(args, "untagged_days", 14), least=1),
        at_least(argument="kept_mutable", value=coerce.whole(args, "kept_mutable", 30), least=1),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    findings += [upstream_known(prefix=prefix, upstream=host) for prefix, host in upstreams.items()]
    for prefix in sorted({*upstreams, *secrets}):
        host = upstreams.get(prefix, "")
        findings.append(login_given(prefix=prefix, upstream=host, given=secrets.get(prefix) is not None))
    findings += [secret_named(prefix=prefix, arn=arn) for prefix, arn in secrets.items() if isinstance(arn, str)]
    return findings


@rule("aws-registry-any-rule-last", Severity.ERROR)
def any_rule_last(*, priority: int, last: int) -> Outcome:
    """The lifecycle rule for images of any tag is the last one: no rule has a higher rulePriority.

    priority: of the rule for any tag. last: the highest priority of all rules.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/lifecycle_policy_parameters.html (tagStatus any must
    have the highest rulePriority); cloudposse/terraform-aws-ecr#146 (InvalidParameterException).
    """
    if priority >= last:
        return passed()
    problem = f"is for images of any tag, and a rule of priority {last} follows it"
    return failed("rulePriority", priority, problem, f"give it a priority above {last}")
