"""The newest image of a repository of ECR, as its digest: the default of jobs on AWS Batch."""

import re
from collections.abc import Mapping
from typing import Any

from gpufleet.aws.client import AWS_ENDPOINT, AwsClientError
from gpufleet.images.pinned_images import PinnedImage
from gpufleet.images.registry_auth import ECR
from gpufleet.jobs.aws_batch.client import AwsBatchClient, error_code
from gpufleet.played_endpoint import endpoint_override

_PLAYED = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.rehearsal\.invalid")
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
        ecr = _ecr(host)
        newest = _newest(AwsBatchClient(ecr["region"]), ecr["account"], path) if ecr else None
        if newest:
            found[name] = PinnedImage(url, str(min(newest.get("imageTags") or [""])), str(newest["imageDigest"]))
    return found


def put_played(url: str, tag: str, manifest: str) -> None:
    """Name an image that nothing has built in the played registry of a rehearsal; nowhere else, and not on Azure.

    url: of the repository. Errors: AwsBusy, AwsClientError.
    """
    host, _, path = url.partition("/")
    ecr = _PLAYED.fullmatch(host)
    if ecr is None or endpoint_override(AWS_ENDPOINT) is None:
        return
    where = {"registryId": ecr["account"], "repositoryName": path}
    try:
        AwsBatchClient(ecr["region"]).call("ecr", "put_image", **where, imageManifest=manifest, imageTag=tag)
    except AwsClientError as error:
        # Built twice.
        if error_code(error) != "ImageAlreadyExistsException":
            raise


def _ecr(host: str) -> re.Match[str] | None:
    """The account and region of a registry of ECR, in a rehearsal of a played one."""
    played = _PLAYED.fullmatch(host) if endpoint_override(AWS_ENDPOINT) else None
    return ECR.fullmatch(host) or played


def _newest(aws: AwsBatchClient, account: str, path: str) -> Mapping[str, Any] | None:
    where = {"registryId": account, "repositoryName": path, "filter": {"tagStatus": "TAGGED"}}
    images = aws.ask("ecr", "describe_images", "imageDetails[]", **where)
    own = [each for each in images if not all(_ABOUT_OTHERS.fullmatch(tag) for tag in each.get("imageTags") or [])]
    return max(own, key=lambda each: each["imagePushedAt"], default=None)
