"""Cases of gpufleet.rules.azure.registry."""

from gpufleet.rules.azure.registry import near_pool, public_access, upstream

CASES = {
    public_access: [
        ("on", {"sku": "Basic", "access": "Enabled"}, "pass", ""),
        ("premium", {"sku": "Premium", "access": "Disabled"}, "pass", ""),
        (
            "basic",
            {"sku": "Basic", "access": "Disabled"},
            "fail",
            (
                "trainers: public_network_access=Disabled: is not supported for the SKU Basic; use "
                "sku.name=Premium, or leave the access on [azure-registry-public]"
            ),
        ),
        (
            "standard",
            {"sku": "Standard", "access": "Disabled"},
            "fail",
            (
                "trainers: public_network_access=Disabled: is not supported for the SKU Standard; use "
                "sku.name=Premium, or leave the access on [azure-registry-public]"
            ),
        ),
    ],
    upstream: [
        ("hub", {"repository": "docker.io/library/ubuntu"}, "pass", ""),
        ("acr", {"repository": "other.azurecr.io/train"}, "pass", ""),
        (
            "nvidia",
            {"repository": "nvcr.io/nvidia/pytorch"},
            "unverified",
            (
                "trainers: source_repository=nvcr.io/nvidia/pytorch: not verified: ACR's documentation does not list "
                "NVIDIA's registry, and its error text does; try it, or copy the images into this registry with "
                "az acr import [azure-registry-upstream]"
            ),
        ),
        (
            "none",
            {"repository": "library/ubuntu"},
            "fail",
            (
                "trainers: source_repository=library/ubuntu: is of no registry that ACR can cache; use one of "
                "docker.io, mcr.microsoft.com, public.ecr.aws, ghcr.io, quay.io, registry.k8s.io or gcr.io, as in "
                "docker.io/library/ubuntu [azure-registry-upstream]"
            ),
        ),
    ],
    near_pool: [
        ("same", {"registry": "images", "region": "eastus", "pool_region": "eastus"}, "pass", ""),
        (
            "other",
            {"registry": "images", "region": "westeurope", "pool_region": "eastus"},
            "fail",
            (
                "trainers: container_registries=images: this registry lies in westeurope, the pool in eastus; use "
                "one in eastus, or a Premium one replicated there [azure-registry-near-pool]"
            ),
        ),
        (
            "unknown",
            {"registry": "images", "region": None, "pool_region": "eastus"},
            "unverified",
            (
                "trainers: container_registries=images: not verified: whether it lies in the pool's region is not "
                "known before deployment; make sure that both are in one region [azure-registry-near-pool]"
            ),
        ),
        (
            "pool-unknown",
            {"registry": "images", "region": "eastus", "pool_region": None},
            "unverified",
            (
                "trainers: container_registries=images: not verified: whether it lies in the pool's region is not "
                "known before deployment; make sure that both are in one region [azure-registry-near-pool]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
