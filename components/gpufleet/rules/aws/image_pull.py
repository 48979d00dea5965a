"""Rules on where nodes pull images from."""

import re
from collections.abc import Mapping, Sequence

from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule, unverified

_ECR = re.compile(r"\d{12}\.dkr[.-]ecr(-fips)?\.(?P<region>[a-z0-9-]+)\.(amazonaws\.(com(\.cn)?|eu)|on\.aws)")
_PUBLIC = (
    *("docker.io", "registry-1.docker.io", "nvcr.io", "quay.io", "registry.k8s.io", "ghcr.io", "gcr.io"),
    *("public.ecr.aws", "mcr.microsoft.com", "registry.gitlab.com", "cgr.dev"),
)
"""Registries on the internet. Of any other host nobody can tell whether it is inside of the VPC."""


@rule("aws-image-reached", Severity.ERROR)
def image_reached(*, argument: str, image: str, region: str, caches: Sequence[str]) -> Outcome:
    """Nodes without a way to the internet pull images from ECR in their own region, or from inside of the VPC.

    caches: prefixes of the registry's pull-through caches.
    Source: https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html; the first pull through a cache needs
    a way out: https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html (considerations).
    """
    host, path = _split(image)
    ecr = _ECR.fullmatch(host)
    if ecr is not None and ecr["region"] == region:
        cache = next((prefix for prefix in caches if path.startswith(f"{prefix}/")), None)
        if cache is None:
            return passed()
        problem = f"lies in the cache {cache}, which nodes without NAT cannot fill: whether it holds the image is open"
        return unverified(argument, image, problem, "pull the image once from where there is a way to the internet")
    fix = f"copy the image into ECR in {region} and give its name there, or set network.nat=single"
    if ecr is not None or host in _PUBLIC:
        return failed(argument, image, f"nodes without NAT cannot reach {host}", fix)
    return unverified(argument, image, f"whether nodes without NAT reach {host} is not known", fix)


def validate_images(images: Mapping[str, str], region: str, caches: Sequence[str]) -> list[Finding]:
    """Findings on images that nodes without a way to the internet pull; images: argument to image."""
    return [
        image_reached(argument=argument, image=image, region=region, caches=caches)
        for argument, image in images.items()
    ]


def _split(image: str) -> tuple[str, str]:
    """Host and path of an image's name; one without a host lies on Docker Hub.

    Source: https://github.com/distribution/reference (normalize.go)
    """
    first, slash, rest = image.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return first, rest
    return "docker.io", image
