"""Cases of gpufleet.rules.azure.registry, and of its validation."""

import pytest

from gpufleet.rules import Status
from gpufleet.rules.azure.registry import (
    caches_apart,
    login_given,
    login_used,
    near_pool,
    public_access,
    repository_name,
    secret_id,
    upstream,
    validate_azure_registry,
)

NAMES = (
    "is not a valid ACR name; use lower-case letters and digits in parts joined by . _ - or /, such as training/llm "
    "[azure-registry-repository]"
)
HIDDEN = (
    "is not the address of a key vault secret; give the address of a secret, such as "
    "https://VAULT.vault.azure.net/secrets/NAME [azure-registry-secret]"
)
VAULT = "https://ops-vault.vault.azure.net/secrets"

CASES = {
    public_access: [
        ("on", {"sku": "Basic", "access": "Enabled"}, "pass", ""),
        ("premium", {"sku": "Premium", "access": "Disabled"}, "pass", ""),
        (
            "component",
            {"sku": "Standard", "access": "Disabled", "argument": "public"},
            "fail",
            (
                "trainers: public=false: is not supported for the SKU Standard; use sku=Premium, or leave public out "
                "[azure-registry-public]"
            ),
        ),
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
                "trainers: source_repository=library/ubuntu: is not from a registry that ACR can cache; use one of "
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
    repository_name: [
        ("plain", {"argument": "repositories", "name": "training"}, "pass", ""),
        ("parts", {"argument": "repositories", "name": "team-a/llm_70b/v1.2"}, "pass", ""),
        ("longest", {"argument": "repositories", "name": "a" * 256}, "pass", ""),
        (
            "too-long",
            {"argument": "repositories", "name": "a" * 257},
            "fail",
            f"trainers: repositories={'a' * 157}...: {NAMES}",
        ),
        ("capital", {"argument": "repositories", "name": "LLM"}, "fail", f"trainers: repositories=LLM: {NAMES}"),
        ("slash", {"argument": "pull_through", "name": "hub/"}, "fail", f"trainers: pull_through=hub/: {NAMES}"),
        ("star", {"argument": "pull_through", "name": "*"}, "fail", f"trainers: pull_through=*: {NAMES}"),
    ],
    caches_apart: [
        ("none", {"prefixes": []}, "pass", ""),
        ("apart", {"prefixes": ["hub", "hub-2", "quay"]}, "pass", ""),
        (
            "inside",
            {"prefixes": ["mirror/quay", "mirror"]},
            "fail",
            (
                "trainers: pull_through=[mirror, mirror/quay]: is one cache inside another; use prefixes side by side, "
                "such as mirror and mirror-quay [azure-registry-cache-apart]"
            ),
        ),
    ],
    login_given: [
        ("needs-none", {"prefix": "quay", "host": "quay.io", "given": False}, "pass", ""),
        ("given", {"prefix": "hub", "host": "docker.io", "given": True}, "pass", ""),
        (
            "hub-without",
            {"prefix": "hub", "host": "docker.io/library", "given": False},
            "fail",
            (
                "trainers: credentials.hub=null: ACR makes no cache of Docker Hub without a login; give "
                "username_secret and password_secret under credentials.hub [azure-registry-login]"
            ),
        ),
        (
            "rule-without",
            {"prefix": None, "host": "docker.io/*", "given": False},
            "fail",
            (
                "trainers: credential_set_resource_id=null: ACR makes no cache of Docker Hub without a login; give "
                "the id of a credential set [azure-registry-login]"
            ),
        ),
    ],
    login_used: [
        ("used", {"prefix": "hub", "prefixes": ["hub"]}, "pass", ""),
        (
            "stray",
            {"prefix": "hub", "prefixes": ["quay"]},
            "fail",
            (
                "trainers: credentials.hub=(a login): pull_through has no such prefix; leave it out "
                "[azure-registry-login-used]"
            ),
        ),
    ],
    secret_id: [
        ("latest", {"argument": "credentials.hub.username_secret", "secret": f"{VAULT}/hub-user"}, "pass", ""),
        (
            "version",
            {"argument": "credentials.hub.username_secret", "secret": f"{VAULT}/hub-user/{'0' * 32}"},
            "pass",
            "",
        ),
        (
            "the-password-itself",
            {"argument": "credentials.hub.password_secret", "secret": "hunter2"},
            "fail",
            f"trainers: credentials.hub.password_secret=(hidden): {HIDDEN}",
        ),
        (
            "key",
            {"argument": "credentials.hub.password_secret", "secret": VAULT.replace("secrets", "keys/k")},
            "fail",
            f"trainers: credentials.hub.password_secret=(hidden): {HIDDEN}",
        ),
    ],
}


def test_case(case):
    case.check()


LOGIN = {"username_secret": object(), "password_secret": object()}


@pytest.mark.parametrize(
    ("args", "rules"),
    [
        ({}, []),
        ({"repositories": ["llm"], "pull_through": {"quay": "quay.io"}}, []),
        ({"pull_through": {"hub": "docker.io"}, "credentials": {"hub": LOGIN}}, []),
        ({"public": False, "sku": "Premium", "endpoint_subnet_id": object(), "vnet_id": object()}, []),
        ({"public": False, "sku": "Premium"}, ["azure-private-endpoint-place"]),
        ({"public": False, "endpoint_subnet_id": object(), "vnet_id": object()}, ["azure-registry-public"]),
        ({"repositories": ["llm", "llm"]}, ["any-argument-distinct"]),
        ({"pull_through": {"ngc": "nvcr.io"}}, ["azure-registry-upstream"]),
        ({"pull_through": {"hub": "docker.io"}}, ["azure-registry-login"]),
        ({"credentials": {"hub": LOGIN}}, ["azure-registry-login-used"]),
        ({"pull_through": {"q": "quay.io"}, "credentials": {"q": "password"}}, ["any-argument-given"]),
        ({"registry_name": "a-b"}, ["azure-registry-name"]),
        ({"region": "East US"}, ["azure-region-form"]),
    ],
)
def test_door(args, rules):
    findings = validate_azure_registry({"region": "eastus", **args})
    assert sorted({each.rule for each in findings if each.status is not Status.PASS}) == rules
