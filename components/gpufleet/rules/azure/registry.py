"""Rules on container registries of Azure (ACR)."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified
from gpufleet.rules.wording import listed

UPSTREAMS = (
    "docker.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "ghcr.io",
    "quay.io",
    "registry.k8s.io",
    "gcr.io",
)


@rule("azure-registry-public", Severity.ERROR)
def public_access(*, sku: str, access: str) -> Outcome:
    """A container registry that is closed to the internet is of the tier Premium.

    Source: Azure-Samples/dotNET-Frontend-AB-Testing-on-Azure-Container-Apps#5:
    DisablingPublicNetworkAccessNotSupported, Disabling public network access is not supported for the SKU Basic.
    """
    if access != "Disabled" or sku == "Premium":
        return passed()
    problem = f"is not supported for the SKU {sku}"
    return failed("public_network_access", access, problem, "use sku.name=Premium, or leave the access on")


@rule("azure-registry-upstream", Severity.ERROR)
def upstream(*, repository: str) -> Outcome:
    """ACR can cache the upstream registry of a cache rule.

    Source: https://learn.microsoft.com/azure/container-registry/artifact-cache-overview, whose list lacks nvcr.io;
    goharbor/harbor#20174, where ACR's own refusal of another registry lists nvcr.io (UpstreamNotSupported, 2024).
    """
    host = repository.removeprefix("https://").partition("/")[0].lower()
    if host in UPSTREAMS or host.endswith(".azurecr.io"):
        return passed()
    if host == "nvcr.io":
        problem = "ACR's documentation does not list NVIDIA's registry, and its error text does"
        fix = "try it, or copy the images into this registry with az acr import"
        return unverified("source_repository", repository, problem, fix)
    fix = f"use one of {listed(UPSTREAMS)}, as in docker.io/library/ubuntu"
    return failed("source_repository", repository, "is of no registry that ACR can cache", fix)


@rule("azure-registry-near-pool", Severity.WARNING)
def near_pool(*, registry: str, region: str | None, pool_region: str | None) -> Outcome:
    """The images that a pool pulls lie in the pool's region; None for a region that is not known.

    Source: https://learn.microsoft.com/azure/container-registry/container-registry-best-practices: network-close
    deployment, since images of gigabytes are pulled by every node and bytes between regions are billed.
    """
    if region is None or pool_region is None:
        problem = "whether it lies in the pool's region is not known before deployment"
        return unverified("container_registries", registry, problem, "make sure that both are in one region")
    if region == pool_region:
        return passed()
    problem = f"this registry lies in {region}, the pool in {pool_region}"
    return failed(
        "container_registries", registry, problem, f"use one in {pool_region}, or a Premium one replicated there"
    )
