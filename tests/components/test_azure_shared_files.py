"""SharedFiles: exact inputs of every child, who reaches the account, and what is kept on destroy."""

from typing import cast

import pulumi
import pulumi_azure_native
import pytest

from gpufleet.azure.role_assignment import ROLES, assignment_name
from gpufleet.azure.shared_files import SharedFiles, SharedFilesArgs
from tests.components.azure_place import GROUP, HERE, PLACE, SUBSCRIPTION, TAGS, known
from tests.components.recorder import UNKNOWN, Recording, Secret, construct, refusal

COMPONENT = "gpufleet-azure:index:SharedFiles"
ACCOUNT = "azure-native:storage:StorageAccount"
CONTAINER = "azure-native:storage:BlobContainer"
SHARE = "azure-native:storage:FileShare"
BLOBS = "azure-native:storage:BlobServiceProperties"
SHARES = "azure-native:storage:FileServiceProperties"
WORKSPACE = "azure-native:operationalinsights:Workspace"
RECORD = "azure-native:monitor:DiagnosticSetting"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
ZONE = "azure-native:privatedns:PrivateZone"
LINK = "azure-native:privatedns:VirtualNetworkLink"
ENDPOINT = "azure-native:network:PrivateEndpoint"
ENTRY = "azure-native:network:PrivateDnsZoneGroup"

NETWORK = f"{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.Network/virtualNetworks/net"
NODES, BATCH, ENDPOINTS = (f"{NETWORK}/subnets/{each}" for each in ("nodes", "batch", "endpoints"))
STORED = f"{SUBSCRIPTION}/resourceGroups/{GROUP}/providers/Microsoft.Storage/storageAccounts/azuredevfiles"
COMPUTED = {
    ACCOUNT: {
        "primaryEndpoints": {"blob": "https://{name}.blob.invalid/", "file": "https://{name}.file.invalid/"},
    },
}
SUBNET_DEFAULTS = {"privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled"}
"""What the SDK adds to every mention of a subnet."""
KEYS = {"azure-native:storage:listStorageAccountKeys": {"keys": [{"keyName": "key1", "value": "c2VjcmV0"}]}}
BASE: dict[str, object] = {
    **PLACE,
    "client_subnet_ids": {"nodes": NODES, "batch": BATCH},
    "client_principal_ids": {"nodes": "principal-1"},
}
PRIVATE: dict[str, object] = {
    "access": "private-endpoint",
    "client_subnet_ids": None,
    "endpoint_subnet_id": ENDPOINTS,
    "vnet_id": NETWORK,
}


def build(preview: bool, /, **changes: object) -> Recording[SharedFiles]:
    """Files called azure-dev-files: the base with ``changes``; None takes an argument away."""
    args = {key: value for key, value in {**BASE, **changes}.items() if value is not None}
    return construct(lambda: SharedFiles("azure-dev-files", cast(SharedFilesArgs, args)), preview, COMPUTED, KEYS)


def expected_account(**changes: object) -> dict[str, object]:
    """The default account with ``changes``."""
    inputs: dict[str, object] = {
        **HERE,
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"},
        "allowBlobPublicAccess": False,
        "allowCrossTenantReplication": False,
        "allowSharedKeyAccess": False,
        "defaultToOAuthAuthentication": True,
        "enableHttpsTrafficOnly": True,
        "minimumTlsVersion": "TLS1_2",
        "isHnsEnabled": False,
        "enableNfsV3": False,
        "publicNetworkAccess": "Enabled",
        "networkRuleSet": {
            "defaultAction": "Deny",
            "bypass": "AzureServices",
            "virtualNetworkRules": [
                {"virtualNetworkResourceId": NODES, "action": "Allow"},
                {"virtualNetworkResourceId": BATCH, "action": "Allow"},
            ],
            "ipRules": [],
        },
    }
    return {**inputs, **changes}


def test_an_account_by_default(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(ACCOUNT) == {"azuredevfiles": expected_account()}
    account = {"accountName": known(preview, "azuredevfiles"), "resourceGroupName": GROUP}
    assert recording.inputs(CONTAINER) == {
        f"azure-dev-files-container-{container}": {**account, "containerName": container, "publicAccess": "None"}
        for container in ("scripts", "result")
    }
    week = {"enabled": True, "days": 7}
    assert recording.one(BLOBS, "azure-dev-files-blobs").inputs == {
        **account,
        "blobServicesName": "default",
        "deleteRetentionPolicy": week,
        "containerDeleteRetentionPolicy": week,
    }
    assert recording.one(SHARES, "azure-dev-files-shares").inputs == {
        **account,
        "fileServicesName": "default",
        "shareDeleteRetentionPolicy": week,
    }
    assert {each.type for each in recording.resources} == {*(COMPONENT, ACCOUNT, CONTAINER, BLOBS, SHARES, ASSIGNMENT)}


@pytest.mark.parametrize("erase", [False, True])
def test_accesses_are_recorded_in_a_workspace(preview: bool, erase: bool) -> None:
    recording = build(preview, access_logs=True, erase=erase)
    assert recording.inputs(WORKSPACE) == {
        "azure-dev-files-access": {**HERE, "sku": {"name": "PerGB2018"}, "retentionInDays": 90}
    }
    account, workspace = "azuredevfiles-id", "azure-dev-files-access-id"
    assert recording.inputs(RECORD) == {
        f"azure-dev-files-access-{service}": {
            "name": "access",
            "resourceUri": known(preview, f"{account}/{service}Services/default"),
            "workspaceId": known(preview, workspace),
            "logs": [
                {"category": category, "enabled": True} for category in ("StorageRead", "StorageWrite", "StorageDelete")
            ],
        }
        for service in ("blob", "file")
    }
    assert {each.protect for each in (*recording.of(WORKSPACE), *recording.of(RECORD))} == {not erase}


def test_shares_are_made_on_demand(preview: bool) -> None:
    recording = build(preview, shares=["logs"])
    account = {"accountName": known(preview, "azuredevfiles"), "resourceGroupName": GROUP}
    assert recording.inputs(SHARE) == {
        "azure-dev-files-share-logs": {**account, "shareName": "logs", "enabledProtocols": "SMB", "shareQuota": 100}
    }
    assert recording.outputs["azure-dev-files"]["shares"] == known(preview, ["azure-dev-files-share-logs"])


def test_clients_write_blobs_as_who_they_are(preview: bool) -> None:
    recording = build(preview, client_principal_ids={"nodes": "p1", "team": pulumi.Output.from_input("p2")})
    made = {each.name: each.inputs for each in recording.of(ASSIGNMENT)}
    assert list(made) == [
        f"azure-dev-files-{container}-of-{client}"
        for container in ("result", "scripts")
        for client in ("nodes", "team")
    ]
    role = "Storage Blob Data Contributor"
    for name, inputs in made.items():
        principal = "p1" if name.endswith("nodes") else "p2"
        # The container's, not the account's: another container that somebody makes there stays closed.
        scope = f"azure-dev-files-container-{name.split('-')[3]}-id"
        assert inputs["principalId"] == principal
        assert inputs["scope"] == known(preview, scope)
        assert inputs["roleAssignmentName"] == known(preview, assignment_name(scope, role, principal))
        definition = inputs["roleDefinitionId"]
        assert definition == UNKNOWN if preview else str(definition).endswith(ROLES[role])


def test_outputs(preview: bool) -> None:
    """There is no key: what is None is not published."""
    assert build(preview).outputs["azure-dev-files"] == {
        "account_name": known(preview, "azuredevfiles"),
        "account_id": known(preview, "azuredevfiles-id"),
        "blob_endpoint": known(preview, "https://azuredevfiles.blob.invalid/"),
        "file_endpoint": known(preview, "https://azuredevfiles.file.invalid/"),
        "containers": known(preview, ["azure-dev-files-container-scripts", "azure-dev-files-container-result"]),
        "shares": [],
    }


def test_a_key_that_azure_does_not_tell_is_one_line() -> None:
    args = cast(SharedFilesArgs, {**PLACE, "client_subnet_ids": {"nodes": NODES}, "shared_keys": True})
    wanted = "^[^\n]*: the key of the storage account cannot be read: [^\n]*listStorageAccountKeys[^\n]*$"
    with pytest.raises(pulumi.RunError, match=wanted):
        construct(lambda: SharedFiles("azure-dev-files", args), False, COMPUTED)


def test_the_key_is_a_secret_and_only_with_shared_keys(preview: bool) -> None:
    recording = build(preview, shared_keys=True)
    assert recording.inputs(ACCOUNT) == {"azuredevfiles": expected_account(allowSharedKeyAccess=True)}
    key = recording.outputs["azure-dev-files"]["account_key"]
    assert key == (UNKNOWN if preview else Secret("c2VjcmV0"))


@pytest.mark.parametrize("erase", [False, True])
def test_data_is_protected_unless_erase_is_asked_for(erase: bool, preview: bool) -> None:
    recording = build(preview, **PRIVATE, erase=erase)
    protected = {each.name for each in recording.resources if each.custom and each.protect}
    data = {each.name for kind in (ACCOUNT, CONTAINER, SHARE, BLOBS, SHARES) for each in recording.of(kind)}
    assert protected == (set() if erase else data)
    assert not any(each.retain_on_delete for each in recording.resources)


def test_protected_data_does_not_keep_the_network(preview: bool) -> None:
    """An engine keeps what a protected resource depends on: with its subnets the account would keep a NAT gateway."""

    def program() -> None:
        subnet = pulumi_azure_native.network.Subnet("subnet", resource_group_name=GROUP, virtual_network_name="net").id
        args = {**BASE, "client_subnet_ids": {"nodes": subnet}}
        SharedFiles("azure-dev-files", cast(SharedFilesArgs, args))

    recording = construct(program, preview, COMPUTED)
    account = recording.one(ACCOUNT)
    rules = cast("dict[str, object]", account.inputs["networkRuleSet"])["virtualNetworkRules"]
    assert rules == [{"virtualNetworkResourceId": known(preview, "subnet-id"), "action": "Allow"}]
    assert "subnet" not in frozenset[str]().union(*account.property_dependencies.values(), account.depends_on)


def test_every_choice(preview: bool) -> None:
    recording = build(
        preview,
        account_name="visionfiles",
        containers=["data"],
        shares=[],
        share_gib=6000.0,
        nfs=True,
        redundancy="Standard_ZRS",
        allowed_cidrs=["203.0.113.7", "198.51.100.0/24"],
        retention_days=0,
    )
    rules = cast("dict[str, object]", expected_account()["networkRuleSet"])
    allowed = [{"iPAddressOrRange": each, "action": "Allow"} for each in ("203.0.113.7", "198.51.100.0/24")]
    assert recording.inputs(ACCOUNT) == {
        "azuredevfiles": expected_account(
            accountName="visionfiles",
            sku={"name": "Standard_ZRS"},
            isHnsEnabled=True,
            enableNfsV3=True,
            largeFileSharesState="Enabled",
            networkRuleSet={**rules, "ipRules": allowed},
        )
    }
    assert recording.names(CONTAINER) == ["azure-dev-files-container-data"]
    assert recording.names(SHARE) == []
    assert recording.one(BLOBS).inputs["deleteRetentionPolicy"] == {"enabled": False}


@pytest.mark.parametrize("hierarchical", [False, True])
def test_private_endpoints(hierarchical: bool, preview: bool) -> None:
    recording = build(preview, **PRIVATE, hierarchical=hierarchical)
    groups = ["blob", "dfs", "file"] if hierarchical else ["blob", "file"]
    account = recording.one(ACCOUNT).inputs
    assert account["publicNetworkAccess"] == "Disabled"
    assert account["networkRuleSet"] == {
        "defaultAction": "Deny",
        "bypass": "AzureServices",
        "virtualNetworkRules": [],
        "ipRules": [],
    }
    everywhere = {"location": "global", "resourceGroupName": GROUP, "tags": TAGS}
    assert recording.inputs(ZONE) == {
        f"azure-dev-files-{group}-zone": {**everywhere, "privateZoneName": f"privatelink.{group}.core.windows.net"}
        for group in groups
    }
    assert recording.inputs(LINK) == {
        f"azure-dev-files-{group}-link": {
            **everywhere,
            "privateZoneName": known(preview, f"azure-dev-files-{group}-zone"),
            "virtualNetwork": {"id": NETWORK},
            "registrationEnabled": False,
        }
        for group in groups
    }
    service = known(preview, "azuredevfiles-id")
    assert recording.inputs(ENDPOINT) == {
        f"azure-dev-files-{group}": {
            **HERE,
            "subnet": {"id": ENDPOINTS, **SUBNET_DEFAULTS},
            "privateLinkServiceConnections": [{"name": group, "privateLinkServiceId": service, "groupIds": [group]}],
        }
        for group in groups
    }
    assert recording.inputs(ENTRY) == {
        f"azure-dev-files-{group}-dns": {
            "privateEndpointName": known(preview, f"azure-dev-files-{group}"),
            "resourceGroupName": GROUP,
            "privateDnsZoneGroupName": "default",
            "privateDnsZoneConfigs": [
                {"name": group, "privateDnsZoneId": known(preview, f"azure-dev-files-{group}-zone-id")}
            ],
        }
        for group in groups
    }


def test_private_endpoints_of_one_account_are_made_one_by_one(preview: bool) -> None:
    second = build(preview, **PRIVATE).one(ENDPOINT, "azure-dev-files-file")
    assert second.property_dependencies["privateLinkServiceConnections"] == {"azuredevfiles", "azure-dev-files-blob"}


def test_private_endpoints_in_zones_that_exist(preview: bool) -> None:
    recording = build(preview, **PRIVATE, dns_zone_ids={"blob": "zone-1"}, allowed_cidrs=["203.0.113.7"])
    assert recording.names(ZONE) == ["azure-dev-files-file-zone"]
    entry = recording.one(ENTRY, "azure-dev-files-blob-dns").inputs
    assert entry["privateDnsZoneConfigs"] == [{"name": "blob", "privateDnsZoneId": "zone-1"}]
    assert recording.one(ACCOUNT).inputs["publicNetworkAccess"] == "Enabled"


def test_options_of_children(preview: bool) -> None:
    recording = build(preview, **PRIVATE)
    for each in recording.resources:
        assert each.name.startswith(("azure-dev-files", "azuredevfiles"))
        assert each.parent == ("azure-dev-files" if each.custom else "project-stack")
        assert each.depends_on == frozenset(), f"{each.name} waits for more than its inputs"
    assert recording.one(COMPONENT).inputs == {}


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "nfs without subnets": (
        {"nfs": True, "client_subnet_ids": {}, "allowed_cidrs": ["203.0.113.7"]},
        [
            "client_subnet_ids={}: NFS has no credentials and is open to subnets only; give the subnets of the nodes, "
            "or use access=private-endpoint [azure-files-clients]"
        ],
    ),
    "nfs without directories": (
        {"nfs": True, "hierarchical": False},
        [
            "hierarchical=false: NFS 3.0 needs a hierarchical namespace; set hierarchical=true "
            "[azure-storage-nfs-namespace]"
        ],
    ),
    "a private endpoint without its subnet": (
        {"access": "private-endpoint"},
        [
            "endpoint_subnet_id=null: a private endpoint needs a subnet; give the id of the subnet "
            "[azure-private-endpoint-place]",
            "vnet_id=null: a private endpoint needs a virtual network; give the id of the virtual network "
            "[azure-private-endpoint-place]",
        ],
    ),
    "several faults at once": (
        {"account_name": "Vision-Files", "containers": ["Data_1"], "share_gib": 0, "redundancy": "Premium_LRS"},
        [
            "containers=Data_1: is not a valid Azure Storage name; use 3 to 63 lower-case letters, digits and single "
            "hyphens, a letter or digit first and last [azure-files-name]",
            "share_gib=0: is not a valid file share size; use 1 to 102400 GiB [azure-files-share-size]",
            "redundancy=Premium_LRS: is not an allowed value; use Standard_LRS, Standard_ZRS, Standard_GRS, "
            "Standard_RAGRS, Standard_GZRS or Standard_RAGZRS [any-argument-word]",
            "account_name=Vision-Files: is not a valid storage account name; use 3 to 24 lower-case letters and "
            "digits, "
            "without hyphens [azure-account-name]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(SharedFilesArgs, {**BASE, **changes})
    assert refusal(lambda: SharedFiles("files", args), preview) == [f"files: {line}" for line in lines]
