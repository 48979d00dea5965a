"""Cases of gpufleet.rules.azure_batch."""

from gpufleet.rules.azure_batch import (
    api_version,
    auto_storage_identity,
    certificates,
    communication,
    inter_node_ethernet,
    inter_node_size,
    private_subnet,
    resource_tags,
    retained_data,
    slots_inter_node,
    slots_most,
    zonal_infiniband,
    zonal_inter_node,
)

CASES = {
    zonal_infiniband: [
        ("regional", {"policy": "Regional", "inter_node": True, "infiniband": True}, "pass", ""),
        (
            "zonal",
            {"policy": "Zonal", "inter_node": True, "infiniband": True},
            "fail",
            (
                "trainers: node_placement_configuration.policy=Zonal: cannot be created with inter-node "
                "communication and an InfiniBand size; use policy=Regional [azure-batch-zonal-infiniband]"
            ),
        ),
        ("silent", {"policy": "Zonal", "inter_node": False, "infiniband": True}, "pass", ""),
        ("ethernet", {"policy": "Zonal", "inter_node": True, "infiniband": False}, "pass", ""),
        (
            "unknown",
            {"policy": "Zonal", "inter_node": True, "infiniband": None},
            "unverified",
            (
                "trainers: node_placement_configuration.policy=Zonal: not verified: whether the size has "
                "InfiniBand is not known, which a zonal pool with inter-node communication bars; use "
                "policy=Regional [azure-batch-zonal-infiniband]"
            ),
        ),
        ("unknown-regional", {"policy": "Regional", "inter_node": True, "infiniband": None}, "pass", ""),
    ],
    zonal_inter_node: [
        ("regional", {"policy": "Regional", "inter_node": True}, "pass", ""),
        (
            "zonal",
            {"policy": "Zonal", "inter_node": True},
            "fail",
            (
                "trainers: node_placement_configuration.policy=Zonal: puts nodes that talk to each other into "
                "several zones; use policy=Regional for jobs of many nodes [azure-batch-zonal-inter-node]"
            ),
        ),
        ("silent", {"policy": "Zonal", "inter_node": False}, "pass", ""),
    ],
    inter_node_size: [
        ("80", {"most": 80, "inter_node": True, "allocation": "UserSubscription"}, "pass", ""),
        (
            "81",
            {"most": 81, "inter_node": True, "allocation": "UserSubscription"},
            "fail",
            (
                "trainers: max=81: is above the 80 nodes that a pool with inter-node communication can have; use "
                "80 or fewer, or make several pools [azure-batch-inter-node-size]"
            ),
        ),
        ("100", {"most": 100, "inter_node": True, "allocation": "BatchService"}, "pass", ""),
        (
            "101",
            {"most": 101, "inter_node": True, "allocation": "BatchService"},
            "fail",
            (
                "trainers: max=101: is above the 100 nodes that a pool with inter-node communication can have; use "
                "100 or fewer, or make several pools [azure-batch-inter-node-size]"
            ),
        ),
        ("silent", {"most": 1000, "inter_node": False, "allocation": "BatchService"}, "pass", ""),
        ("unknown-80", {"most": 80, "inter_node": True, "allocation": None}, "pass", ""),
        (
            "unknown-81",
            {"most": 81, "inter_node": True, "allocation": None},
            "unverified",
            (
                "trainers: max=81: not verified: is too many nodes with inter-node communication if the account is "
                "in UserSubscription mode (80); use 80 or fewer, or make sure that it is in BatchService mode "
                "[azure-batch-inter-node-size]"
            ),
        ),
        (
            "unknown-100",
            {"most": 100, "inter_node": True, "allocation": None},
            "unverified",
            (
                "trainers: max=100: not verified: is too many nodes with inter-node communication if the account "
                "is in UserSubscription mode (80); use 80 or fewer, or make sure that it is in BatchService mode "
                "[azure-batch-inter-node-size]"
            ),
        ),
        (
            "unknown-101",
            {"most": 101, "inter_node": True, "allocation": None},
            "fail",
            (
                "trainers: max=101: is above the 100 nodes that a pool with inter-node communication can have; use "
                "100 or fewer, or make several pools [azure-batch-inter-node-size]"
            ),
        ),
    ],
    slots_inter_node: [
        ("1", {"slots": 1, "inter_node": True}, "pass", ""),
        (
            "2",
            {"slots": 2, "inter_node": True},
            "fail",
            (
                "trainers: task_slots_per_node=2: with inter-node communication multi-instance tasks stay active "
                "for ever; use 1, or disable inter_node_communication [azure-batch-slots-inter-node]"
            ),
        ),
        ("silent", {"slots": 2, "inter_node": False}, "pass", ""),
    ],
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
                "trainers: task_slots_per_node=17: is above the 16 that Batch takes; use 16 or fewer "
                "[azure-batch-slots-most]"
            ),
        ),
        ("256-of-96", {"slots": 256, "vcpus": 96}, "pass", ""),
        (
            "257-of-96",
            {"slots": 257, "vcpus": 96},
            "fail",
            (
                "trainers: task_slots_per_node=257: is above the 256 that Batch takes; use 256 or fewer "
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
                "trainers: task_slots_per_node=257: is above the 256 that Batch takes; use 256 or fewer "
                "[azure-batch-slots-most]"
            ),
        ),
    ],
    inter_node_ethernet: [
        (
            "infiniband",
            {"type_name": "Standard_ND96isr_H100_v5", "inter_node": True, "infiniband": "NDR", "most": 2},
            "pass",
            "",
        ),
        (
            "ethernet",
            {"type_name": "Standard_NC4as_T4_v3", "inter_node": True, "infiniband": None, "most": 2},
            "fail",
            (
                "trainers: types=Standard_NC4as_T4_v3: has no InfiniBand, so that nodes of one job talk over "
                "Ethernet; use an InfiniBand size for training on many nodes [azure-batch-inter-node-ethernet]"
            ),
        ),
        (
            "one-node",
            {"type_name": "Standard_NC4as_T4_v3", "inter_node": True, "infiniband": None, "most": 1},
            "pass",
            "",
        ),
        (
            "silent",
            {"type_name": "Standard_NC4as_T4_v3", "inter_node": False, "infiniband": None, "most": 2},
            "pass",
            "",
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
                "trainers: node_deallocation_option=RetainedData: newer API versions do not take it any more; use "
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
}


def test_case(case):
    case.check()
