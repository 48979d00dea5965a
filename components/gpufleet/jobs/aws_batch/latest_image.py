"""The newest image of a repository of ECR, as its digest: the default of jobs on AWS Batch."""

import re
from collections.abc import Mapping
from typing import Any

from gpufleet.images.pinned_images import PinnedImage
from gpufleet.images.registry_auth import ECR
from gpufleet.jobs.aws_batch.client import AwsBatchClient

_ABOUT_OTHERS = re.compile(r"sha256-[0-9a-f]{64}(\..*)?")
"""Tags of signatures, attestations and the like, which lie in the repository beside the image that they are about.
Source: github.com/sigstore/cosign, specs/SIGNATURE_SPEC.md."""


def newest_images(repositories: Mapping[str, str]) -> dict[str, PinnedImage]:
    """The image that was pushed last, by the repository's name. repositories: URL by name.

    Repositories that are empty, gone or not of ECR are left out. Errors: AwsBusy, AwsClientError.
    """
    found = {}
    for name, url in repositories.items():
        host, _, path = url.partition("/")
        ecr = ECR.fullmatch(host)
        newest = _newest(AwsBatchClient(ecr["region"]), ecr["account"], path) if ecr else None
        if newest:
            found[name] = PinnedImage(url, str(min(newest.get("imageTags") or [""])), str(newest["imageDigest"]))
    return found


def _newest(aws: AwsBatchClient, account: str, path: str) -> Mapping[str, Any] | None:
    where = {"registryId": account, "repositoryName": path, "filter": {"tagStatus": "TAGGED"}}
    images = aws.ask("ecr", "describe_images", "imageDetails[]", **where)
    own = [each for each in images if not all(_ABOUT_OTHERS.fullmatch(tag) for tag in each.get("imageTags") or [])]
    return max(own, key=lambda each: each["imagePushedAt"], default=None)
