"""NfsShare: a premium storage account with one NFS share, open to given subnets only."""

from typing import cast

import pytest

from gpufleet.azure.nfs_share import NfsShare, NfsShareArgs
from tests.components.azure_place import GROUP, HERE, PLACE, TAGS, known
from tests.components.recorder import Recording, construct, refusal

ACCOUNT, SHARE = "azure-native:storage:StorageAccount", "azure-native:storage:FileShare"
SUBNETS = {"nodes": "subnet-nodes", "batch": "subnet-batch"}


def build(preview: bool, /, **changes: object) -> Recording[NfsShare]:
    args = {**PLACE, "client_subnet_ids": SUBNETS, **changes}
    return construct(lambda: NfsShare("fleet-share", cast(NfsShareArgs, args)), preview)


def test_defaults(preview: bool) -> None:
    recording = build(preview)
    assert recording.inputs(ACCOUNT) == {
        "fleetshare": {
            **HERE,
            "kind": "FileStorage",
            "sku": {"name": "Premium_LRS"},
            # Azure rejects NFS without encryption on the way otherwise.
            "enableHttpsTrafficOnly": False,
            "minimumTlsVersion": "TLS1_2",
            "allowBlobPublicAccess": False,
            "allowSharedKeyAccess": False,
            "networkRuleSet": {
                "defaultAction": "Deny",
                "bypass": "AzureServices",
                "virtualNetworkRules": [
                    {"action": "Allow", "virtualNetworkResourceId": "subnet-nodes"},
                    {"action": "Allow", "virtualNetworkResourceId": "subnet-batch"},
                ],
            },
            "tags": TAGS,
        }
    }
    assert recording.inputs(SHARE) == {
        "fleet-share-share": {
            "accountName": known(preview, "fleetshare"),
            "resourceGroupName": GROUP,
            "shareName": "shared",
            "enabledProtocols": "NFS",
            "rootSquash": "NoRootSquash",
            "shareQuota": 100,
        }
    }
    assert [recording.one(type_).protect for type_ in (ACCOUNT, SHARE)] == [True, True]


def test_place_is_that_of_a_shared_volume() -> None:
    recording = build(False, share="files", gib=500, redundancy="Premium_ZRS", erase=True)
    assert recording.one(SHARE).inputs["shareQuota"] == 500
    assert recording.one(ACCOUNT).inputs["sku"] == {"name": "Premium_ZRS"}
    assert recording.outputs["fleet-share"]["place"].startswith(f"{GROUP}/fleetshare/")
    assert [recording.one(type_).protect for type_ in (ACCOUNT, SHARE)] == [False, False]


def test_refuses_every_fault_at_once(preview: bool) -> None:
    changes = {"client_subnet_ids": {}, "gib": 50, "share": "My Files", "redundancy": "Standard_LRS"}
    args = cast(NfsShareArgs, {**PLACE, **changes})
    assert refusal(lambda: NfsShare("fleet-share", args), preview) == [
        "fleet-share: gib=50: is not a valid size of a premium file share; use 100 to 102400 [azure-nfs-share-size]",
        "fleet-share: share=My Files: is not a valid Azure Storage name; use 3 to 63 lower-case letters, digits and "
        "single hyphens, a letter or digit first and last [azure-files-name]",
        "fleet-share: redundancy=Standard_LRS: is not an allowed value; use Premium_LRS or Premium_ZRS "
        "[any-argument-word]",
        "fleet-share: client_subnet_ids={}: lets nobody reach the files; give the subnets of the nodes, or use "
        "access=private-endpoint [azure-files-clients]",
    ]


@pytest.mark.parametrize("word", ["account_name"])
def test_name_of_the_account_is_judged(word: str, preview: bool) -> None:
    args = cast(NfsShareArgs, {**PLACE, "client_subnet_ids": SUBNETS, word: "Fleet-1"})
    (line,) = refusal(lambda: NfsShare("fleet-share", args), preview)
    assert line.startswith("fleet-share: account_name=Fleet-1: ")


def test_accesses_are_recorded_where_those_of_the_other_files_are(preview: bool) -> None:
    recording = build(preview, log_workspace_id="workspace-id")
    assert recording.inputs("azure-native:monitor:DiagnosticSetting") == {
        "fleet-share-access": {
            "name": "access",
            "resourceUri": known(preview, "fleetshare-id/fileServices/default"),
            "workspaceId": "workspace-id",
            "logs": [
                {"category": category, "enabled": True} for category in ("StorageRead", "StorageWrite", "StorageDelete")
            ],
        }
    }
