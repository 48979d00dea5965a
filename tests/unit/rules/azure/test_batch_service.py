"""Cases of gpufleet.rules.azure.batch_service."""

from gpufleet.rules.azure.batch_service import (
    api_version,
    auto_storage_identity,
    certificates,
    communication,
    private_subnet,
    resource_tags,
    retained_data,
    slots_most,
    vault_given,
)

CASES = {
    slots_most: [
        ("1", {"slots": 1, "vcpus": None}, "pass", ""),
        (
            "0",
            {"slots": 0, "vcpus": None},
            "fail",
            "trainers: task_slots_per_node=0: is below 1; use 1 or more [azure-batch-slots-most]",
        ),
        ("16-of-4", {"slots": 16, "vcpus": 4}, "pass", ""),
        (
            "17-of-4",
            {"slots": 17, "vcpus": 4},
            "fail",
            (
                "trainers: task_slots_per_node=17: is above the 16 that Batch allows; use 16 or fewer "
                "[azure-batch-slots-most]"
            ),
        ),
        ("256-of-96", {"slots": 256, "vcpus": 96}, "pass", ""),
        (
            "257-of-96",
            {"slots": 257, "vcpus": 96},
            "fail",
            (
                "trainers: task_slots_per_node=257: is above the 256 that Batch allows; use 256 or fewer "
                "[azure-batch-slots-most]"
            ),
        ),
        ("4-unknown", {"slots": 4, "vcpus": None}, "pass", ""),
        (
            "5-unknown",
            {"slots": 5, "vcpus": None},
            "unverified",
            (
                "trainers: task_slots_per_node=5: not verified: the cores of the size are not known, and each has "
                "at most four slots; make sure that the size has enough cores [azure-batch-slots-most]"
            ),
        ),
        (
            "257-unknown",
            {"slots": 257, "vcpus": None},
            "fail",
            (
                "trainers: task_slots_per_node=257: is above the 256 that Batch allows; use 256 or fewer "
                "[azure-batch-slots-most]"
            ),
        ),
    ],
    communication: [
        ("default", {"mode": "Default"}, "pass", ""),
        ("simplified", {"mode": "Simplified"}, "pass", ""),
        (
            "classic",
            {"mode": "Classic"},
            "fail",
            (
                "trainers: target_node_communication_mode=Classic: classic node communication is retired since "
                "2026-03-31; use Simplified [azure-batch-communication]"
            ),
        ),
    ],
    certificates: [
        ("none", {"count": 0}, "pass", ""),
        (
            "one",
            {"count": 1},
            "fail",
            (
                "trainers: certificates=1: certificates of pools are retired since 2024-02-29; take them from a "
                "key vault by its extension, or use an identity [azure-batch-certificates]"
            ),
        ),
    ],
    retained_data: [
        ("completion", {"option": "TaskCompletion"}, "pass", ""),
        ("none", {"option": ""}, "pass", ""),
        (
            "retained",
            {"option": "RetainedData"},
            "fail",
            (
                "trainers: node_deallocation_option=RetainedData: newer API versions no longer accept it; use "
                "TaskCompletion [azure-batch-retained-data]"
            ),
        ),
    ],
    resource_tags: [
        ("none", {"count": 0, "allocation": "BatchService"}, "pass", ""),
        ("user", {"count": 2, "allocation": "UserSubscription"}, "pass", ""),
        (
            "service",
            {"count": 2, "allocation": "BatchService"},
            "fail",
            (
                "trainers: resource_tags=2: are not taken in BatchService mode; leave them out and tag the "
                "account, or use an account with pool_allocation_mode=UserSubscription [azure-batch-resource-tags]"
            ),
        ),
        (
            "unknown",
            {"count": 2, "allocation": None},
            "unverified",
            (
                "trainers: resource_tags=2: not verified: the mode of the Batch account is not known; leave them "
                "out and tag the account, or use an account with pool_allocation_mode=UserSubscription "
                "[azure-batch-resource-tags]"
            ),
        ),
        ("none-unknown", {"count": 0, "allocation": None}, "pass", ""),
    ],
    api_version: [
        ("new", {"version": "2025-06-01"}, "pass", ""),
        ("newer", {"version": "2026-08-01-preview"}, "pass", ""),
        (
            "old",
            {"version": "2024-07-01"},
            "fail",
            (
                "trainers: api_version=2024-07-01: Batch retires API versions before 2025-06-01; run pulumi "
                "package add azure-native batch 2025-06-01, and use that package [azure-batch-api-version]"
            ),
        ),
        (
            "day-before",
            {"version": "2025-05-31"},
            "fail",
            (
                "trainers: api_version=2025-05-31: Batch retires API versions before 2025-06-01; run pulumi "
                "package add azure-native batch 2025-06-01, and use that package [azure-batch-api-version]"
            ),
        ),
        (
            "default",
            {"version": None},
            "fail",
            (
                "trainers: api_version=2024-07-01: is the default of azure-native, and Batch retires API versions "
                "before 2025-06-01; run pulumi package add azure-native batch 2025-06-01, and use that package "
                "[azure-batch-api-version]"
            ),
        ),
    ],
    auto_storage_identity: [
        ("keys", {"mode": "StorageKeys", "has_identity": False}, "pass", ""),
        ("identity", {"mode": "BatchAccountManagedIdentity", "has_identity": True}, "pass", ""),
        (
            "without",
            {"mode": "BatchAccountManagedIdentity", "has_identity": False},
            "fail",
            (
                "trainers: auto_storage.authentication_mode=BatchAccountManagedIdentity: the Batch account has no "
                "identity; give it identity.type=SystemAssigned [azure-batch-auto-storage-identity]"
            ),
        ),
    ],
    private_subnet: [
        ("public", {"provision": "BatchManaged", "has_subnet": False}, "pass", ""),
        ("subnet", {"provision": "NoPublicIPAddresses", "has_subnet": True}, "pass", ""),
        (
            "without",
            {"provision": "NoPublicIPAddresses", "has_subnet": False},
            "fail",
            (
                "trainers: public_ip_address_configuration.provision=NoPublicIPAddresses: a pool without public "
                "addresses must be in a subnet; give network_configuration.subnet_id [azure-batch-private-subnet]"
            ),
        ),
    ],
    vault_given: [
        ("by-batch", {"allocation": "BatchService", "vault": False}, "pass", ""),
        ("with-vault", {"allocation": "UserSubscription", "vault": True}, "pass", ""),
        (
            "without",
            {"allocation": "UserSubscription", "vault": False},
            "fail",
            (
                "trainers: pool_allocation_mode=UserSubscription: needs key_vault_reference; give the vault, in which "
                "Microsoft Azure Batch may read and write secrets, or use BatchService [azure-batch-vault]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
