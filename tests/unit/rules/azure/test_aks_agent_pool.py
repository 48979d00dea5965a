"""Cases of gpufleet.rules.azure.aks_agent_pool."""

from gpufleet.rules.azure.aks_agent_pool import (
    autoscaling,
    disk_in_cache,
    driver,
    infiniband_feature,
    kubelet_role,
    most_nodes,
    reservation_identity,
    scale_set,
    spot_options,
    spot_upgrade,
    system_gpu,
    system_least,
    system_spot,
    taint,
    version_fits,
)

CASES = {
    autoscaling: [
        ("on", {"enabled": True, "least": 0, "most": 4}, "pass", ""),
        ("off", {"enabled": False, "least": None, "most": None}, "pass", ""),
        (
            "no-bounds",
            {"enabled": True, "least": None, "most": None},
            "fail",
            (
                "trainers: enable_auto_scaling=true: has no bounds; give min_count and max_count "
                "[azure-agent-pool-autoscaling]"
            ),
        ),
        (
            "no-most",
            {"enabled": True, "least": 0, "most": None},
            "fail",
            (
                "trainers: enable_auto_scaling=true: has no bounds; give min_count and max_count "
                "[azure-agent-pool-autoscaling]"
            ),
        ),
        (
            "off-with-most",
            {"enabled": False, "least": None, "most": 4},
            "fail",
            (
                "trainers: enable_auto_scaling=false: is off, and max_count means nothing; set it to true, or give "
                "count alone [azure-agent-pool-autoscaling]"
            ),
        ),
        (
            "off-with-both",
            {"enabled": False, "least": 0, "most": 4},
            "fail",
            (
                "trainers: enable_auto_scaling=false: is off, and min_count and max_count mean nothing; set it to "
                "true, or give count alone [azure-agent-pool-autoscaling]"
            ),
        ),
    ],
    most_nodes: [
        ("1000", {"most": 1000}, "pass", ""),
        (
            "1001",
            {"most": 1001},
            "fail",
            "trainers: max=1001: is above the 1000 that AKS allows; use 1000 or fewer [azure-agent-pool-most]",
        ),
    ],
    system_least: [
        ("1", {"mode": "System", "least": 1}, "pass", ""),
        (
            "0",
            {"mode": "System", "least": 0},
            "fail",
            (
                "trainers: min=0: a system pool keeps at least one node; use 1 or more, or set mode=User "
                "[azure-agent-pool-system-least]"
            ),
        ),
        ("user-0", {"mode": "User", "least": 0}, "pass", ""),
    ],
    system_spot: [
        (
            "spot",
            {"mode": "System", "capacity": "spot"},
            "fail",
            (
                "trainers: scale_set_priority=Spot: a system pool cannot be Spot; use Regular, or set mode=User "
                "[azure-agent-pool-system-spot]"
            ),
        ),
        ("regular", {"mode": "System", "capacity": "on-demand"}, "pass", ""),
        ("user", {"mode": "User", "capacity": "spot"}, "pass", ""),
    ],
    system_gpu: [
        (
            "system",
            {"mode": "System", "type_name": "Standard_ND96asr_v4"},
            "fail",
            (
                "trainers: mode=System: keeps a node of Standard_ND96asr_v4 running for the cluster's own pods; "
                "set mode=User and make a system pool of a small size [azure-agent-pool-system-gpu]"
            ),
        ),
        (
            "of-a-cluster's-own",
            {"mode": "System", "type_name": "Standard_ND96asr_v4", "argument": "system_type"},
            "fail",
            (
                "trainers: system_type=Standard_ND96asr_v4: keeps a node of Standard_ND96asr_v4 running for the "
                "cluster's own pods; use a small size without GPUs, and a GPU pool beside it "
                "[azure-agent-pool-system-gpu]"
            ),
        ),
        ("user", {"mode": "User", "type_name": "Standard_ND96asr_v4"}, "pass", ""),
    ],
    spot_options: [
        ("spot", {"argument": "spot_max_price", "value": -1, "capacity": "spot"}, "pass", ""),
        (
            "regular",
            {"argument": "scale_set_eviction_policy", "value": "Delete", "capacity": "on-demand"},
            "fail",
            (
                "trainers: scale_set_eviction_policy=Delete: is for Spot nodes only; buy the nodes as "
                "Spot, or leave it out [azure-agent-pool-spot-options]"
            ),
        ),
    ],
    scale_set: [
        ("vmss", {"kind": "VirtualMachineScaleSets", "zones": True, "placement": "create"}, "pass", ""),
        ("set-without", {"kind": "AvailabilitySet", "zones": False, "placement": "none"}, "pass", ""),
        (
            "set-zones",
            {"kind": "AvailabilitySet", "zones": True, "placement": "none"},
            "fail",
            (
                "trainers: type=AvailabilitySet: supports no zones; use type=VirtualMachineScaleSets "
                "[azure-agent-pool-scale-set]"
            ),
        ),
        (
            "set-group",
            {"kind": "AvailabilitySet", "zones": False, "placement": "existing"},
            "fail",
            (
                "trainers: type=AvailabilitySet: supports no proximity placement group; use "
                "type=VirtualMachineScaleSets [azure-agent-pool-scale-set]"
            ),
        ),
        ("machines", {"kind": "VirtualMachines", "zones": True, "placement": "none"}, "pass", ""),
    ],
    taint: [
        ("one", {"taints": 1}, "pass", ""),
        (
            "none",
            {"taints": 0},
            "fail",
            (
                "trainers: node_taints=[]: pods that need no GPU may fill these nodes and keep them from scaling "
                "down; give one such as sku=gpu:NoSchedule [azure-agent-pool-taint]"
            ),
        ),
    ],
    driver: [
        ("install", {"choice": "Install"}, "pass", ""),
        (
            "none",
            {"choice": "None"},
            "fail",
            (
                "trainers: gpu_profile.driver=None: AKS installs no GPU driver, and the pool cannot be changed "
                "later; install the NVIDIA GPU operator, or use Install [azure-agent-pool-driver]"
            ),
        ),
    ],
    reservation_identity: [
        ("on-demand", {"capacity": "on-demand", "identity": "SystemAssigned"}, "pass", ""),
        ("user", {"capacity": "reservation", "identity": "UserAssigned"}, "pass", ""),
        (
            "system",
            {"capacity": "reservation", "identity": "SystemAssigned"},
            "fail",
            (
                "trainers: capacity_reservation_group_id=(a group): the cluster's identity is SystemAssigned; give "
                "the cluster identity.type=UserAssigned, with Contributor on the group's resource group "
                "[azure-agent-pool-reservation-identity]"
            ),
        ),
        (
            "unknown",
            {"capacity": "reservation", "identity": None},
            "unverified",
            (
                "trainers: capacity_reservation_group_id=(a group): not verified: the cluster's identity is not "
                "known; give the cluster identity.type=UserAssigned, with Contributor on the group's resource "
                "group [azure-agent-pool-reservation-identity]"
            ),
        ),
    ],
    infiniband_feature: [
        ("without", {"type_name": "Standard_NC4as_T4_v3", "infiniband": None, "registered": None}, "pass", ""),
        ("registered", {"type_name": "Standard_ND96isr_H100_v5", "infiniband": "NDR", "registered": True}, "pass", ""),
        (
            "not-registered",
            {"type_name": "Standard_ND96isr_H100_v5", "infiniband": "NDR", "registered": False},
            "fail",
            (
                "trainers: types=Standard_ND96isr_H100_v5: has no InfiniBand unless AKSInfinibandSupport is "
                "registered; run az feature register --namespace Microsoft.ContainerService --name "
                "AKSInfinibandSupport [azure-agent-pool-infiniband]"
            ),
        ),
        (
            "unknown",
            {"type_name": "Standard_ND96isr_H100_v5", "infiniband": "NDR", "registered": None},
            "unverified",
            (
                "trainers: types=Standard_ND96isr_H100_v5: not verified: its InfiniBand needs the feature "
                "AKSInfinibandSupport registered in the subscription; run az feature register --namespace "
                "Microsoft.ContainerService --name AKSInfinibandSupport, or set aks_infiniband in the pack "
                "[azure-agent-pool-infiniband]"
            ),
        ),
        (
            "gb200-not",
            {"type_name": "Standard_ND128isr_NDR_GB200_v6", "infiniband": "NDR", "registered": False},
            "pass",
            "",
        ),
        (
            "gb200-registered",
            {"type_name": "Standard_ND128isr_NDR_GB200_v6", "infiniband": "NDR", "registered": True},
            "fail",
            (
                "trainers: types=Standard_ND128isr_NDR_GB200_v6: has no InfiniBand unless AKSInfinibandSupport is "
                "unregistered; run az feature unregister --namespace Microsoft.ContainerService --name "
                "AKSInfinibandSupport [azure-agent-pool-infiniband]"
            ),
        ),
    ],
    kubelet_role: [
        ("none", {"own_kubelet": False, "assigned": None}, "pass", ""),
        ("assigned", {"own_kubelet": True, "assigned": True}, "pass", ""),
        (
            "not-assigned",
            {"own_kubelet": True, "assigned": False},
            "fail",
            (
                "trainers: identity_profile=kubeletidentity: the cluster may not assign this identity; assign "
                "Managed Identity Operator on the kubelet identity, and make the cluster depend on that "
                "[azure-cluster-kubelet-role]"
            ),
        ),
        (
            "unknown",
            {"own_kubelet": True, "assigned": None},
            "unverified",
            (
                "trainers: identity_profile=kubeletidentity: not verified: whether the cluster may assign this "
                "identity is not known; assign Managed Identity Operator on the kubelet identity, and make the "
                "cluster depend on that [azure-cluster-kubelet-role]"
            ),
        ),
    ],
    spot_upgrade: [
        ("regular", {"argument": "max_surge", "value": "1", "capacity": "on-demand"}, "pass", ""),
        (
            "surge",
            {"argument": "max_surge", "value": "1", "capacity": "spot"},
            "fail",
            (
                "trainers: upgrade_settings.max_surge=1: is not available for Spot nodes; leave it out "
                "[azure-agent-pool-spot-upgrade]"
            ),
        ),
    ],
    version_fits: [
        ("same", {"version": "1.34", "cluster": "1.34.2"}, "pass", ""),
        ("three-older", {"version": "1.31.9", "cluster": "1.34"}, "pass", ""),
        ("no-version", {"version": "latest", "cluster": "1.34"}, "pass", ""),
        (
            "newer",
            {"version": "1.35", "cluster": "1.34"},
            "fail",
            (
                "trainers: orchestrator_version=1.35: is newer than the cluster's 1.34; use 1.31 to 1.34, or leave it "
                "out [azure-agent-pool-version]"
            ),
        ),
        (
            "four-older",
            {"version": "1.30", "cluster": "1.34"},
            "fail",
            (
                "trainers: orchestrator_version=1.30: is more than 3 minor versions older than the cluster's 1.34; "
                "use 1.31 to 1.34, or leave it out [azure-agent-pool-version]"
            ),
        ),
        (
            "unknown",
            {"version": "1.34", "cluster": None},
            "unverified",
            (
                "trainers: orchestrator_version=1.34: not verified: the cluster's version is not known; use the "
                "version of the cluster, or leave it out [azure-agent-pool-version]"
            ),
        ),
    ],
    disk_in_cache: [
        ("fits", {"type_name": "Standard_NC4as_T4_v3", "disk_type": "Ephemeral", "disk_gib": 144}, "pass", ""),
        ("usual", {"type_name": "Standard_NC4as_T4_v3", "disk_type": "Ephemeral", "disk_gib": None}, "pass", ""),
        ("managed", {"type_name": "Standard_NC4as_T4_v3", "disk_type": "Managed", "disk_gib": 512}, "pass", ""),
        ("not-seen", {"type_name": "Standard_D4s_v5", "disk_type": "Ephemeral", "disk_gib": 512}, "pass", ""),
        (
            "larger",
            {"type_name": "standard_nc4as_t4_v3", "disk_type": "Ephemeral", "disk_gib": 145},
            "fail",
            (
                "trainers: os_disk_size_gb=145: does not fit into the cache of standard_nc4as_t4_v3, which has 144 "
                "GiB; use 144 or less, or os_disk_type=Managed [azure-agent-pool-cache]"
            ),
        ),
        (
            "usual-in-a-small-one",
            {"type_name": "Standard_DS2_v2", "disk_type": "Ephemeral", "disk_gib": None},
            "fail",
            (
                "trainers: os_disk_size_gb=128: does not fit into the cache of Standard_DS2_v2, which has 86 GiB; use "
                "86 or less, or os_disk_type=Managed [azure-agent-pool-cache]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
