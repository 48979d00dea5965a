"""Cases of gpufleet.rules.azure.batch_mpi."""

from gpufleet.rules.azure.batch_mpi import (
    inter_node_ethernet,
    inter_node_size,
    slots_inter_node,
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
                "forever; use 1, or disable inter_node_communication [azure-batch-slots-inter-node]"
            ),
        ),
        ("silent", {"slots": 2, "inter_node": False}, "pass", ""),
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
}


def test_case(case):
    case.check()
