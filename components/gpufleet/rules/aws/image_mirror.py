"""Rules on an image mirror: its repositories in ECR, and who may push to them from CI."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules import coerce
from gpufleet.rules.aws.registry import name_legal
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.generic import at_least, distinct
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

_GITHUB = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+")
_WORD = re.compile(r"[A-Za-z0-9._/-]+")
_PROVIDER = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:oidc-provider/token\.actions\.githubusercontent\.com")
_ECR = re.compile(r"\d{12}\.dkr\.ecr(?:-fips)?\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(?:\.cn)?")


@rule("aws-mirror-github", Severity.ERROR)
def github_named(*, repository: str) -> Outcome:
    """CI's repository is one repository of GitHub, ORGANISATION/NAME, without wildcards.

    Source: https://docs.github.com/en/actions/reference/security/oidc: a subject with a wildcard lets workflows of
    other repositories take the role.
    """
    if _GITHUB.fullmatch(repository):
        return passed()
    return failed(
        "github_repository", repository, "is not a single repository", "write ORGANISATION/NAME, without https://"
    )


@rule("aws-mirror-subject", Severity.ERROR)
def subject_narrow(*, argument: str, name: str) -> Outcome:
    """The branch or environment that may push is named in full.

    Source: https://docs.github.com/en/actions/reference/security/oidc: repo:ORG/NAME:ref:refs/heads/BRANCH, and
    repo:ORG/NAME:environment:NAME, compared letter by letter here.
    """
    if _WORD.fullmatch(name) and not name.startswith("refs/"):
        return passed()
    fix = "write its plain name, such as main: letters, digits and . _ - /, without refs/heads/ and without wildcards"
    return failed(argument, name, "is not the name of a single branch or environment", fix)


@rule("aws-mirror-subjects-exclusive", Severity.ERROR)
def one_subject(*, repository: bool, branch: bool, environment: bool) -> Outcome:
    """A branch or an environment is given, not both, and only together with the repository.

    Source: https://docs.github.com/en/actions/reference/security/oidc: the subject of a job that names an environment
    holds that, and no branch.
    """
    if branch and environment:
        fix = "leave one out; the environment's own protection rules name the branches that may use it"
        return failed("github_environment", "(and github_branch)", "a job's subject holds one of the two", fix)
    if (branch or environment) and not repository:
        return failed(
            "github_repository", None, "is not given", "give ORGANISATION/NAME, or leave out what belongs to it"
        )
    return passed()


@rule("aws-mirror-provider", Severity.ERROR)
def provider_of_github(*, arn: str) -> Outcome:
    """An existing identity provider is GitHub's.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_create_oidc.html: an account has one
    for each issuer, and its ARN ends with the issuer's host.
    """
    if _PROVIDER.fullmatch(arn):
        return passed()
    fix = "give arn:aws:iam::<account>:oidc-provider/token.actions.githubusercontent.com"
    return failed("provider_arn", arn, "is not GitHub's OIDC provider", fix)


@rule("aws-mirror-list-legal", Severity.ERROR)
def list_legal(*, file: str, fault: str) -> Outcome:
    """The list of images is readable and valid, as `gpufleet images sync` reports.

    Source: our own, docs/images.md.
    """
    if not fault:
        return passed()
    return failed("list", file, fault, "fix it; `gpufleet images sync <list> --dry-run` reads it in the same way")


@rule("aws-mirror-list-registry", Severity.ERROR)
def list_in_region(*, to: str, region: str) -> Outcome:
    """The list of images pushes to the ECR of the environment's region, below a path.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/Registries.html: the host holds account and region.
    """
    host, _, path = to.partition("/")
    found = _ECR.fullmatch(host)
    fix = f"write <account>.dkr.ecr.{region}.amazonaws.com/<environment>"
    if found is None:
        return failed("list.to", to, "is not an ECR registry, so no repository can be created for it", fix)
    if found["region"] != region:
        return failed("list.to", to, f"is in {found['region']}, and the repositories are made in {region}", fix)
    if not path:
        return failed("list.to", to, "has no path, though names are shared by the whole account", fix)
    return passed()


@rule("aws-mirror-list-tags", Severity.ERROR)
def list_tags_unique(*, unique_tags: bool) -> Outcome:
    """The list gives each change a unique tag, because tags in the repositories are immutable.

    Source: https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
    """
    if unique_tags:
        return passed()
    return failed(
        "list.unique_tags", False, "the repositories keep tags immutable", "write unique_tags: true in the list"
    )


def validate_image_mirror(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on an image mirror. Reads region, repositories, existing_repositories, github_repository,
    github_branch, github_environment, provider_arn, untagged_days, kept_images, tags."""
    names = coerce.texts(args, "repositories")
    github = coerce.text(args, "github_repository")
    branch, environment = coerce.text(args, "github_branch"), coerce.text(args, "github_environment")
    provider = args.get("provider_arn")
    findings = [
        validate_region(coerce.text(args, "region")),
        distinct(argument="repositories", values=(*names, *coerce.texts(args, "existing_repositories"))),
        *(name_legal(argument="repositories", name=name, longest=256) for name in names),
        one_subject(repository=bool(github), branch=bool(branch), environment=bool(environment)),
        at_least(argument="untagged_days", value=coerce.whole(args, "untagged_days", 14), least=1),
        at_least(argument="kept_images", value=coerce.whole(args, "kept_images", 1), least=1),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
    if github:
        findings.append(github_named(repository=github))
    if branch:
        findings.append(subject_narrow(argument="github_branch", name=branch))
    if environment:
        findings.append(subject_narrow(argument="github_environment", name=environment))
    if isinstance(provider, str):
        findings.append(provider_of_github(arn=provider))
    return findings


def validate_mirror_file(file: str, faults: Sequence[str]) -> list[Finding]:
    """A finding for each line that says what is wrong with the list's file; one that passes where there is none."""
    return [list_legal(file=file, fault=fault) for fault in faults or [""]]


def validate_mirror_list(to: str, unique_tags: bool, region: str) -> list[Finding]:
    """Every finding on a list of images, as `gpufleet images sync` reads it, for repositories that are made here."""
    return [list_in_region(to=to, region=region), list_tags_unique(unique_tags=unique_tags)]
