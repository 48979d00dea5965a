"""Checks with ECR before a long build, which it would otherwise reject at the end."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gpufleet.aws.client import AwsClient, AwsClientError
from gpufleet.errors import UserError
from gpufleet.images.registry_auth import ECR
from gpufleet.images.repository import Repository


def advice(repository: Repository, tag: str) -> list[str]:
    """A line if ECR cannot be queried; nothing for other registries.

    Errors: UserError when the repository is not there, or holds an image of this tag and keeps tags immutable.
    """
    host = ECR.fullmatch(repository.host)
    if host is None:
        return []
    account = AwsClient(host["region"], attempts=3)
    where = {"registryId": host["account"]}
    path = repository.url.partition("/")[2]
    try:
        found = account.ask("ecr", "describe_repositories", "repositories[]", repositoryNames=[path], **where)
        if not found:
            raise UserError(
                f"{repository.url}: repository not found in ECR in {host['region']}; `pulumi up` creates it"
            )
        if not immutable(found[0], tag):
            return []
        wanted = {"repositoryName": path, "imageIds": [{"imageTag": tag}], **where}
        taken = account.ask("ecr", "describe_images", "imageDetails[]", **wanted)
    except AwsClientError as error:
        return [f"not verified: whether {repository.url}:{tag} can be pushed: {error}"]
    if taken:
        raise UserError(
            f"{repository.url}: tag={tag}: this tag exists, and the repository's tags are immutable; "
            "give another --tag, or none"
        )
    return []


def immutable(repository: Mapping[str, Any], tag: str) -> bool:
    """Whether a repository, as DescribeRepositories tells it, keeps this tag on the image that had it first.

    Source: docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html
    """
    kind = str(repository.get("imageTagMutability") or "MUTABLE")
    filters = [str(each["filter"]) for each in repository.get("imageTagMutabilityExclusionFilters") or ()]
    excepted = kind.endswith("_WITH_EXCLUSION") and _matches(tag, filters)
    return kind.startswith("IMMUTABLE") != excepted


def _matches(tag: str, filters: Sequence[str]) -> bool:
    """* stands for any text; nothing else is special."""
    return any(re.fullmatch(".*".join(map(re.escape, each.split("*"))), tag) for each in filters)
