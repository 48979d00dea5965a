"""Rules on agent pools of AKS."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

MOST_NODES = 1000
CACHE_GIB = {"Standard_DS2_v2": 86, "Standard_NC4as_T4_v3": 144}
"""Cache, or temporary disk, of sizes in GiB: what Azure's own rejections said of them, see `disk_in_cache`."""
USUAL_DISK_GIB = 128
"""System disk of a node: learn.microsoft.com/azure/aks/concepts-storage"""
_SKEW = 3
# The feature flag must be absent for these: their InfiniBand is set up by other means.
_WITHOUT_FEATURE = ("GB200", "GB300")


@rule("azure-agent-pool-autoscaling", Severity.ERROR)
def autoscaling(*, enabled: bool, least: int | None, most: int | None) -> Outcome:
    """An agent pool has a minimum and a maximum number of nodes exactly if it autoscales.

    Source: https://learn.microsoft.com/azure/aks/cluster-autoscaler: min-count and max-count are given together with
    enable-cluster-autoscaler; terraform azurerm_kubernetes_cluster_node_pool wants them null without it.
    """
    given = [name for name, value in (("min_count", least), ("max_count", most)) if value is not None]
    if enabled and len(given) < 2:
        return failed("enable_auto_scaling", True, "has no bounds", "give min_count and max_count")
    if not enabled and given:
        problem = f"is off, and {' and '.join(given)} mean{'s' if len(given) == 1 else ''} nothing"
        return failed("enable_auto_scaling", False, problem, "set it to true, or give count alone")
    return passed()


@rule("azure-agent-pool-most", Severity.ERROR)
def most_nodes(*, most: int) -> Outcome:
    """An agent pool has at most 1000 nodes.

    Source: count of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01.
    """
    if most <= MOST_NODES:
        return passed()
    return failed("max", most, f"is above the {MOST_NODES} that AKS allows", f"use {MOST_NODES} or fewer")


@rule("azure-agent-pool-system-least", Severity.ERROR)
def system_least(*, mode: str, least: int) -> Outcome:
    """A system pool keeps at least one node.

    Source: count of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01: 1 to 1000 for system pools.
    """
    if mode != "System" or least >= 1:
        return passed()
    return failed("min", least, "a system pool keeps at least one node", "use 1 or more, or set mode=User")


@rule("azure-agent-pool-system-spot", Severity.ERROR)
def system_spot(*, mode: str, capacity: str) -> Outcome:
    """A system pool, so the default pool of a cluster too, is not Spot.

    Source: https://learn.microsoft.com/azure/aks/spot-node-pool: a Spot pool can't be a default node pool; system
    pods need nodes that stay.
    """
    if mode != "System" or capacity != "spot":
        return passed()
    return failed("scale_set_priority", "Spot", "a system pool cannot be Spot", "use Regular, or set mode=User")


@rule("azure-agent-pool-system-gpu", Severity.WARNING)
def system_gpu(*, mode: str, type_name: str, argument: str = "mode") -> Outcome:
    """GPU nodes are not a system pool, which never scales to zero and runs system pods.

    `argument`: mode, or what names the size of a cluster's own system pool.

    Source: https://learn.microsoft.com/azure/aks/use-system-pools
    """
    if mode != "System":
        return passed()
    problem = f"keeps a node of {type_name} running for the cluster's own pods"
    if argument != "mode":
        return failed(argument, type_name, problem, "use a small size without GPUs, and a GPU pool beside it")
    return failed("mode", mode, problem, "set mode=User and make a system pool of a small size")


@rule("azure-agent-pool-spot-options", Severity.ERROR)
def spot_options(*, argument: str, value: object, capacity: str) -> Outcome:
    """An eviction policy or a highest Spot price is given for Spot nodes only; `argument` is the one that is given.

    Source: scaleSetEvictionPolicy of Microsoft.ContainerService/managedClusters/agentPools 2025-09-01: cannot be
    specified unless the scaleSetPriority is Spot.
    """
    if capacity == "spot":
        return passed()
    return failed(argument, value, "is for Spot nodes only", "buy the nodes as Spot, or leave it out")


@rule("azure-agent-pool-scale-set", Severity.ERROR)
def scale_set(*, kind: str, zones: bool, placement: str) -> Outcome:
    """An agent pool with zones or a proximity placement group is a virtual machine scale set, not an availability set.

    Source: https://learn.microsoft.com/azure/aks/reduce-latency-ppg; availabilityZones of agentPools 2025-09-01: only
    with type VirtualMachineScaleSets.
    """
    if kind != "AvailabilitySet" or not (zones or placement in ("create", "existing")):
        return passed()
    what = "zones" if zones else "a proximity placement group"
    return failed("type", kind, f"supports no {what.removeprefix('a ')}", "use type=VirtualMachineScaleSets")


@rule("azure-agent-pool-taint", Severity.INFO)
def taint(*, taints: int) -> Outcome:
    """GPU nodes have a taint, which keeps pods away that need no GPU.

    Source: https://learn.microsoft.com/azure/aks/use-nvidia-gpu: sku=gpu:NoSchedule.
    """
    if taints:
        return passed()
    problem = "pods that need no GPU may fill these nodes and keep them from scaling down"
    return failed("node_taints", [], problem, "give one such as sku=gpu:NoSchedule")


@rule("azure-agent-pool-driver", Severity.INFO)
def driver(*, choice: str) -> Outcome:
    """Nodes with GPUs get their driver from AKS, or from something that installs it afterwards.

    Source: https://learn.microsoft.com/azure/aks/use-nvidia-gpu#skip-gpu-driver-installation: the choice is made when
    the pool is created.
    """
    if choice != "None":
        return passed()
    problem = "AKS installs no GPU driver, and the pool cannot be changed later"
    return failed("gpu_profile.driver", choice, problem, "install the NVIDIA GPU operator, or use Install")


@rule("azure-agent-pool-reservation-identity", Severity.ERROR)
def reservation_identity(*, capacity: str, identity: str | None) -> Outcome:
    """A cluster whose pools use a capacity reservation group has a user-assigned identity; None: not known.

    Source: https://learn.microsoft.com/azure/aks/use-capacity-reservation-groups: system-assigned identities do not
    work, and the identity is Contributor on the group's resource group.
    """
    if capacity != "reservation" or identity == "UserAssigned":
        return passed()
    fix = "give the cluster identity.type=UserAssigned, with Contributor on the group's resource group"
    if identity is None:
        return unverified("capacity_reservation_group_id", "(a group)", "the cluster's identity is not known", fix)
    problem = f"the cluster's identity is {identity}"
    return failed("capacity_reservation_group_id", "(a group)", problem, fix)


@rule("azure-agent-pool-infiniband", Severity.WARNING)
def infiniband_feature(*, type_name: str, infiniband: str | None, registered: bool | None) -> Outcome:
    """The feature AKSInfinibandSupport fits the pool's size; `registered`: in the subscription, None where not known.

    Source: https://azure.github.io/aks-rdma-infiniband/getting-started/prerequisites: registered, so that nodes land on
    one InfiniBand network, and unregistered for GB200 and GB300.
    """
    if not infiniband:
        return passed()
    wanted = not any(name in type_name for name in _WITHOUT_FEATURE)
    if registered is wanted:
        return passed()
    do = "register" if wanted else "unregister"
    fix = f"az feature {do} --namespace Microsoft.ContainerService --name AKSInfinibandSupport"
    if registered is None:
        problem = f"its InfiniBand needs the feature AKSInfinibandSupport {do}ed in the subscription"
        return unverified("types", type_name, problem, f"run {fix}, or set aks_infiniband in the pack")
    problem = f"has no InfiniBand unless AKSInfinibandSupport is {do}ed"
    return failed("types", type_name, problem, f"run {fix}")


@rule("azure-cluster-kubelet-role", Severity.ERROR)
def kubelet_role(*, own_kubelet: bool, assigned: bool | None) -> Outcome:
    """A cluster with a kubelet identity of its own may assign it: its own identity is Managed Identity Operator there.

    `assigned`: whether the plan assigns that role; None where the identity or the role is not of this plan.
    Source: https://learn.microsoft.com/azure/aks/use-managed-identity: CustomKubeletIdentityMissingPermissionError.
    """
    if not own_kubelet or assigned:
        return passed()
    fix = "assign Managed Identity Operator on the kubelet identity, and make the cluster depend on that"
    if assigned is None:
        problem = "whether the cluster may assign this identity is not known"
        return unverified("identity_profile", "kubeletidentity", problem, fix)
    return failed("identity_profile", "kubeletidentity", "the cluster may not assign this identity", fix)


@rule("azure-agent-pool-spot-upgrade", Severity.ERROR)
def spot_upgrade(*, argument: str, value: object, capacity: str) -> Outcome:
    """Spot nodes have no upgrade settings; `argument` is the one that is given, max_surge or max_unavailable.

    Source: XenitAB/terraform-modules#755 (Spot pools can't set max surge), hashicorp/terraform-provider-azurerm#31129
    (Spot pools can't set maxUnavailable): InvalidParameter.
    """
    if capacity != "spot":
        return passed()
    return failed(f"upgrade_settings.{argument}", value, "is not available for Spot nodes", "leave it out")


@rule("azure-agent-pool-version", Severity.ERROR)
def version_fits(*, version: str, cluster: str | None) -> Outcome:
    """A pool's version of Kubernetes is at most its cluster's, and at most three minor versions older; None: not known.

    Source: rancher/rancher#33426 (NodePoolMcVersionIncompatible: the pool's minor version is bigger),
    learn.microsoft.com/troubleshoot/azure/azure-kubernetes (no more than 3 versions less).
    """
    if cluster is None:
        problem, fix = "the cluster's version is not known", "use the version of the cluster, or leave it out"
        return unverified("orchestrator_version", version, problem, fix)
    own, control = _minor(version), _minor(cluster)
    if own is None or control is None or control - _SKEW <= own <= control:
        return passed()
    fix = f"use 1.{max(0, control - _SKEW)} to 1.{control}, or leave it out"
    what = "is newer than" if own > control else f"is more than {_SKEW} minor versions older than"
    return failed("orchestrator_version", version, f"{what} the cluster's {cluster}", fix)


def _minor(version: str) -> int | None:
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0]
    return int(minor) if major == "1" and minor.isdecimal() else None


@rule("azure-agent-pool-cache", Severity.ERROR)
def disk_in_cache(*, type_name: str, disk_type: str, disk_gib: int | None) -> Outcome:
    """An ephemeral system disk fits into the cache of its VM size, as far as that was seen; None: AKS's 128 GiB.

    Source: VMCacheSizeTooSmall of Azure/AKS#2635 and rancher/rancher#33679.
    """
    most = next((gib for name, gib in CACHE_GIB.items() if name.lower() == type_name.lower()), None)
    size = USUAL_DISK_GIB if disk_gib is None else disk_gib
    if disk_type != "Ephemeral" or most is None or size <= most:
        return passed()
    problem = f"does not fit into the cache of {type_name}, which has {most} GiB"
    return failed("os_disk_size_gb", size, problem, f"use {most} or less, or os_disk_type=Managed")
