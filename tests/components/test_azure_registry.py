"""Registry: exact inputs of every child, who pulls, and the names that images get."""

from typing import cast

import pulumi
import pytest

from gpufleet.azure.registry import Registry, RegistryArgs, part_name
from gpufleet.azure.role_assignment import ROLES, assignment_name
from tests.components.azure_place import GROUP, HERE, PLACE, SUBSCRIPTION, known
from tests.components.recorder import UNKNOWN, Recording, construct, refusal

COMPONENT = "gpufleet-azure:index:Registry"
REGISTRY = "azure-native:containerregistry:Registry"
CACHE = "azure-native:containerregistry:CacheRule"
LOGIN = "azure-native:containerregistry:CredentialSet"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
ENDPOINT = "azure-native:network:PrivateEndpoint"
ZONE = "azure-native:privatedns:PrivateZone"

HOST = "azuredevregistry.azurecr.invalid"
COMPUTED = {
    REGISTRY: {"loginServer": "{name}.azurecr.invalid"},
    LOGIN: {"identity": {"principalId": "{name}-principal", "tenantId": "tenant"}},
}
VAULT = f"{SUBSCRIPTION}/resourceGroups/ops/providers/Microsoft.KeyVault/vaults/ops"
SECRETS = "https://ops-vault.vault.azure.net/secrets"
HUB = {"username_secret": f"{SECRETS}/hub-user", "password_secret": f"{SECRETS}/hub-token"}


def build(preview: bool, /, **changes: object) -> Recording[Registry]:
    """A registry called azure-dev-registry."""
    args = {**PLACE, "repositories": ["training/llm"], **changes}
    return construct(lambda: Registry("azure-dev-registry", cast(RegistryArgs, args)), preview, COMPUTED)


def expected_registry(**changes: object) -> dict[str, object]:
    inputs: dict[str, object] = {
        **HERE,
        "sku": {"name": "Standard"},
        "adminUserEnabled": False,
        "publicNetworkAccess": "Enabled",
        **REGISTRY_DEFAULTS,
    }
    return {**inputs, **changes}


REGISTRY_DEFAULTS = {
    "anonymousPullEnabled": False,
    "networkRuleBypassOptions": "AzureServices",
    "zoneRedundancy": "Disabled",
}
"""What the SDK adds to every registry."""


def test_a_registry_by_default(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(REGISTRY) == {"azuredevregistry": expected_registry()}
    assert {each.type for each in recording.resources} == {COMPONENT, REGISTRY}
    assert recording.outputs["azure-dev-registry"] == {
        "login_server": known(preview, HOST),
        "registry_id": known(preview, "azuredevregistry-id"),
        "repository_urls": known(preview, {"training/llm": f"{HOST}/training/llm"}),
        "cache_prefixes": {},
    }


def test_clients_pull_as_who_they_are(preview: bool) -> None:
    recording = build(preview, pull_principal_ids={"nodes": "p1", "cluster": pulumi.Output.from_input("p2")})
    made = recording.inputs(ASSIGNMENT)
    assert list(made) == ["azure-dev-registry-pull-of-cluster", "azure-dev-registry-pull-of-nodes"]
    for inputs, principal in zip(made.values(), ("p2", "p1"), strict=True):
        assert inputs["principalId"] == principal
        assert inputs["scope"] == known(preview, "azuredevregistry-id")
        name = assignment_name("azuredevregistry-id", "AcrPull", principal)
        assert inputs["roleAssignmentName"] == known(preview, name)


def test_caches_of_public_registries(preview: bool) -> None:
    recording = build(
        preview,
        repositories=[],
        pull_through={"quay": "quay.io", "net/core": "mcr.microsoft.com/dotnet", "hub": "docker.io"},
        credentials={"hub": HUB},
    )
    place = {"registryName": known(preview, "azuredevregistry"), "resourceGroupName": GROUP}
    assert recording.inputs(CACHE) == {
        "azure-dev-registry-cache-quay": {
            **place,
            "cacheRuleName": "cache-quay",
            "sourceRepository": "quay.io/*",
            "targetRepository": "quay/*",
        },
        "azure-dev-registry-cache-net/core": {
            **place,
            "cacheRuleName": part_name("cache", "net/core"),
            "sourceRepository": "mcr.microsoft.com/dotnet/*",
            "targetRepository": "net/core/*",
        },
        "azure-dev-registry-cache-hub": {
            **place,
            "cacheRuleName": "cache-hub",
            "sourceRepository": "docker.io/*",
            "targetRepository": "hub/*",
            "credentialSetResourceId": known(preview, "azure-dev-registry-login-hub-id"),
        },
    }
    assert recording.inputs(LOGIN) == {
        "azure-dev-registry-login-hub": {
            **place,
            "credentialSetName": "login-hub",
            "loginServer": "docker.io",
            "authCredentials": [
                {
                    "name": "Credential1",
                    "usernameSecretIdentifier": HUB["username_secret"],
                    "passwordSecretIdentifier": HUB["password_secret"],
                }
            ],
            "identity": {"type": "SystemAssigned"},
        }
    }
    assert recording.of(ASSIGNMENT) == []
    assert recording.outputs["azure-dev-registry"]["cache_prefixes"] == known(
        preview,
        {"quay.io": f"{HOST}/quay", "mcr.microsoft.com/dotnet": f"{HOST}/net/core", "docker.io": f"{HOST}/hub"},
    )


def test_a_login_may_read_its_key_vault(preview: bool) -> None:
    login = {**HUB, "key_vault_id": VAULT}
    recording = build(preview, pull_through={"hub": "docker.io"}, credentials={"hub": login})
    role = "Key Vault Secrets User"
    principal = "azure-dev-registry-login-hub-principal"
    assert recording.inputs(ASSIGNMENT) == {
        "azure-dev-registry-secrets-of-hub": {
            "scope": VAULT,
            "roleAssignmentName": known(preview, assignment_name(VAULT, role, principal)),
            "roleDefinitionId": f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{ROLES[role]}",
            "principalId": known(preview, principal),
            "principalType": "ServicePrincipal",
        }
    }


def test_a_closed_registry(preview: bool) -> None:
    recording = build(
        preview, sku="Premium", registry_name="VisionImages", public=False, endpoint_subnet_id="subnet", vnet_id="vnet"
    )
    assert recording.inputs(REGISTRY) == {
        "azuredevregistry": expected_registry(
            sku={"name": "Premium"}, registryName="VisionImages", publicNetworkAccess="Disabled"
        )
    }
    assert recording.one(ZONE).inputs["privateZoneName"] == "privatelink.azurecr.io"
    connections = [
        {"name": "registry", "privateLinkServiceId": known(preview, "azuredevregistry-id"), "groupIds": ["registry"]}
    ]
    assert recording.one(ENDPOINT, "azure-dev-registry-registry").inputs["privateLinkServiceConnections"] == connections


@pytest.mark.parametrize("erase", [False, True])
def test_images_are_protected_unless_erase_is_asked_for(erase: bool, preview: bool) -> None:
    recording = build(preview, erase=erase, pull_through={"quay": "quay.io"}, pull_principal_ids={"nodes": "p1"})
    protected = {each.name for each in recording.resources if each.protect}
    assert protected == (set() if erase else {"azuredevregistry"})
    assert not any(each.retain_on_delete for each in recording.resources)


def test_options_of_children(preview: bool) -> None:
    recording = build(preview, pull_through={"hub": "docker.io"}, credentials={"hub": HUB})
    for each in recording.resources:
        assert each.name.startswith(("azure-dev-registry", "azuredevregistry"))
        assert each.parent == ("azure-dev-registry" if each.custom else "project-stack")
        assert each.depends_on == frozenset(), f"{each.name} waits for more than its inputs"
    assert {each.delete_before_replace for kind in (CACHE, LOGIN) for each in recording.of(kind)} == {True}
    assert recording.one(COMPONENT).inputs == {}


@pytest.mark.parametrize("prefix", ["net/core", "net-core", "a.b", "x" * 60, "x" * 61])
def test_names_of_cache_rules_are_legal(prefix: str) -> None:
    name = part_name("cache", prefix)
    assert 5 <= len(name) <= 50
    assert name.replace("-", "").isalnum()


def test_prefixes_that_look_alike_have_names_of_their_own() -> None:
    prefixes = ["net/core", "net-core", "net.core", "x" * 60, "x" * 61]
    assert len({part_name("cache", prefix) for prefix in prefixes}) == len(prefixes)


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "a registry that Azure cannot cache": (
        {"pull_through": {"lab": "registry.gitlab.com"}},
        [
            "pull_through.lab=registry.gitlab.com: is not from a registry that ACR can cache; use one of docker.io, "
            "mcr.microsoft.com, public.ecr.aws, ghcr.io, quay.io, registry.k8s.io or gcr.io, as in "
            "docker.io/library/ubuntu [azure-registry-upstream]"
        ],
    ),
    "closed, without a tier that can be, nor a way in": (
        {"public": False},
        [
            "public=false: is not supported for the SKU Standard; use sku=Premium, or leave public out "
            "[azure-registry-public]",
            "endpoint_subnet_id=null: a private endpoint needs a subnet; give the id of the subnet "
            "[azure-private-endpoint-place]",
            "vnet_id=null: a private endpoint needs a virtual network; give the id of the virtual network "
            "[azure-private-endpoint-place]",
        ],
    ),
    "a password instead of a secret's address": (
        {"pull_through": {"hub": "docker.io"}, "credentials": {"hub": {**HUB, "password_secret": "hunter2"}}},
        [
            "credentials.hub.password_secret=(hidden): is not the address of a key vault secret; give the address of "
            "a secret, such as https://VAULT.vault.azure.net/secrets/NAME [azure-registry-secret]"
        ],
    ),
    "half of a login": (
        {
            "pull_through": {"hub": "docker.io"},
            "credentials": {"hub": {**HUB, "password_secret": None, "pasword": "x"}},
        },
        [
            "credentials.hub.pasword=(hidden): unknown argument; did you mean "
            "credentials.hub.password_secret? [any-argument-known]",
            "credentials.hub.password_secret=null: is required; give the address of a secret [any-argument-given]",
        ],
    ),
    "several faults at once": (
        {"sku": "Free", "repositories": ["Training"], "registry_name": "my-images"},
        [
            "sku=Free: is not an allowed value; use Basic, Standard or Premium [any-argument-word]",
            "repositories=Training: is not a valid ACR name; use lower-case letters and digits in parts joined by "
            ". _ - or /, such as training/llm [azure-registry-repository]",
            "registry_name=my-images: is not a valid registry name; use 5 to 50 letters and digits, without hyphens "
            "[azure-registry-name]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(RegistryArgs, {**PLACE, **changes})
    assert refusal(lambda: Registry("images", args), preview) == [f"images: {line}" for line in lines]


def test_roles_of_a_registry_are_known_only_with_it(preview: bool) -> None:
    made = build(preview, pull_principal_ids={"nodes": "p1"}).one(ASSIGNMENT).inputs
    assert (made["roleDefinitionId"] == UNKNOWN) is preview
