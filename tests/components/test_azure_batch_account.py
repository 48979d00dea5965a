"""BatchAccount: exact inputs of its child, and what is refused."""

from typing import cast

from gpufleet.azure.batch_account import BatchAccount, BatchAccountArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

ACCOUNT = "azure-native:batch:BatchAccount"
IDENTITY = "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes"
STORAGE = "/subscriptions/s/resourceGroups/fleet/providers/Microsoft.Storage/storageAccounts/trainstore01"
BASE = {
    "region": "eastus",
    "resource_group_name": "fleet",
    "identity_id": IDENTITY,
    "tags": {"owner": "ml"},
}


def build(preview: bool, name: str = "dev-batch", **changes: object) -> Recording[BatchAccount]:
    args = cast(BatchAccountArgs, {**BASE, **changes})
    return construct(lambda: BatchAccount(name, args), preview)


def test_account_without_keys_and_storage(preview: bool) -> None:
    account = build(preview).one(ACCOUNT)
    assert account.name == "devbatch"
    assert account.inputs == {
        "resourceGroupName": "fleet",
        "location": "eastus",
        "poolAllocationMode": "BatchService",
        "allowedAuthenticationModes": ["AAD"],
        "publicNetworkAccess": "Enabled",
        "identity": {"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]},
        "tags": {"owner": "ml", **MARK},
    }
    assert (account.parent, account.delete_before_replace) == ("dev-batch", True)


def test_storage_is_reached_by_the_identity_of_account_and_nodes(preview: bool) -> None:
    inputs = build(preview, storage_account_id=STORAGE, storage_region="eastus", account_name="trainbatch01").one(
        ACCOUNT
    )
    assert inputs.inputs["accountName"] == "trainbatch01"
    assert inputs.inputs["autoStorage"] == {
        "storageAccountId": STORAGE,
        "authenticationMode": "BatchAccountManagedIdentity",
        "nodeIdentityReference": {"resourceId": IDENTITY},
    }


def test_a_long_name_leaves_room_for_the_random_end(preview: bool) -> None:
    account = build(preview, "Speech-Research-Production-batch").one(ACCOUNT)
    assert len(account.name) == 24 - 8
    assert account.name.isalnum()
    assert account.name == account.name.lower()


def test_outputs(preview: bool) -> None:
    outputs = build(preview).outputs["dev-batch"]
    assert outputs == {
        "account_name": UNKNOWN if preview else "devbatch",
        "account_id": UNKNOWN if preview else "devbatch-id",
        "account_endpoint": UNKNOWN if preview else "devbatch.eastus.batch.rehearsal.invalid",
    }


def test_every_fault_is_refused_at_once(preview: bool) -> None:
    def wrong() -> BatchAccount:
        args = {
            "region": "eastus",
            "resource_group_name": "fleet",
            "account_name": "Train-Batch",
            "storage_id": STORAGE,
        }
        return BatchAccount("dev-batch", cast(BatchAccountArgs, {**args, "storage_account_id": STORAGE}))

    assert refusal(wrong, preview) == [
        "dev-batch: storage_id=" + STORAGE + ": unknown argument; did you mean storage_region? [any-argument-known]",
        "dev-batch: identity_id=null: is required; give a value [any-argument-given]",
        "dev-batch: account_name=Train-Batch: is not a valid Batch account name; use 3 to 24 lower-case letters and "
        "digits, without hyphens [azure-account-name]",
        "dev-batch: auto_storage.authentication_mode=BatchAccountManagedIdentity: the Batch account has no identity; "
        "give it identity.type=SystemAssigned [azure-batch-auto-storage-identity]",
    ]


def test_storage_in_another_region_is_refused(preview: bool) -> None:
    lines = refusal(lambda: build(preview, storage_account_id=STORAGE, storage_region="westus2"), preview)
    assert lines == [
        "dev-batch: storage_account_id=trainstore01: this storage account lies in westus2, the pool in eastus; use a "
        "storage account in eastus [azure-storage-near-pool]"
    ]
