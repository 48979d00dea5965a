"""Cases of gpufleet.rules.azure.batch_account."""

from gpufleet.rules import Status
from gpufleet.rules.azure.batch_account import validate_azure_batch_account

ACCOUNT = {
    "region": "eastus",
    "account_name": "trainbatch01",
    "identity_id": "/subscriptions/s/identities/nodes",
    "storage_account_id": "/subscriptions/s/storageAccounts/trainstore01",
    "storage_region": "eastus",
}


def lines(**changes: object) -> list[str]:
    args = {word: value for word, value in {**ACCOUNT, **changes}.items() if value is not None}
    return [each.line("jobs") for each in validate_azure_batch_account(args) if each.status is not Status.PASS]


def test_a_legal_account_passes():
    assert lines() == []
    assert lines(account_name=None, storage_account_id=None, storage_region=None) == []


def test_every_fault_at_once():
    assert lines(account_name="Train-Batch", identity_id=None, storage_region="westus2") == [
        "jobs: account_name=Train-Batch: is not a valid Batch account name; use 3 to 24 lower-case letters and digits, "
        "without hyphens [azure-account-name]",
        "jobs: auto_storage.authentication_mode=BatchAccountManagedIdentity: the Batch account has no identity; give "
        "it identity.type=SystemAssigned [azure-batch-auto-storage-identity]",
        "jobs: storage_account_id=trainstore01: this storage account lies in westus2, the pool in eastus; use a "
        "storage account in eastus [azure-storage-near-pool]",
    ]


def test_storage_somewhere_is_not_verified():
    (line,) = lines(storage_region=None)
    assert "not verified" in line


def test_names_have_3_to_24_characters():
    assert lines(account_name="a" * 24) == []
    assert len(lines(account_name="a" * 25)) == len(lines(account_name="aa")) == 1
