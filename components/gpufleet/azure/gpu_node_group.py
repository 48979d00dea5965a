"""GpuNodeGroup: an agent pool of GPU nodes of one AKS cluster, from nothing but its intent."""

from collections.abc import Mapping
from typing import TypeAlias, Unpack

import pulumi
from pulumi_azure_native import compute, containerservice

from gpufleet.azure.gpu_node_group_plan import GpuNodeGroupPlan, plan_gpu_node_group
from gpufleet.azure.links import ClusterLink, GroupLink, SubnetLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pools.aks_pool import AksPool
from gpufleet.rules import Finding
from gpufleet.rules.azure.gpu_node_group import validate_agent_pool
from gpufleet.rules.coerce import text

REPLACING = (
    "availabilityZones",
    "capacityReservationGroupID",
    "gpuProfile",
    "osDiskSizeGB",
    "osDiskType",
    "proximityPlacementGroupID",
    "scaleSetEvictionPolicy",
    "scaleSetPriority",
    "spotMaxPrice",
    "vmSize",
    "vnetSubnetID",
)
"""What AKS refuses to change on a pool that is there (PropertyChangeNotAllowed). The provider knows of vmSize alone:
forceNewMap of pulumi-azure-native, provider/pkg/gen/replacement.go."""
GpuNodeGroupConfig: TypeAlias = AksPool


class GpuNodeGroupArgs(GpuNodeGroupConfig, GroupLink, ClusterLink, SubnetLink):
    """A pool's intent, and the cluster and network it goes to."""


class GpuNodeGroup(Component):
    """An autoscaling AKS node pool with GPUs, optionally in a proximity placement group.

    Pools share nothing, so one can be replaced or removed without touching another. AKS's own autoscaler owns the
    number of nodes: ``desired`` counts at creation only. AKS refuses bounds that the number which the state remembers
    is outside of. So raise ``min`` above it with `az aks nodepool update --update-cluster-autoscaler`, which the
    autoscaler follows, and then `pulumi refresh`.
    """

    pool_name: pulumi.Output[str]
    """Name in AKS, at most 12 letters and digits."""
    proximity_placement_group_id: pulumi.Output[str | None]
    """None without one."""
    labels: pulumi.Output[Mapping[str, str]]
    """Kubernetes labels of the nodes; ``gpufleet.dev/pool`` selects exactly this pool."""

    def __init__(
        self, name: str, args: GpuNodeGroupArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[GpuNodeGroupArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: GpuNodeGroupArgs) -> list[Finding]:
        return validate_agent_pool(args, text(args, "region"))

    def create(self, name: str, args: GpuNodeGroupArgs) -> None:
        plan = plan_gpu_node_group(name, args)
        group = self._placement_group(name, args, plan)
        pool = self._agent_pool(name, args, plan, group)
        self.pool_name = pool.name
        self.proximity_placement_group_id = pulumi.Output.from_input(group)
        self.labels = pulumi.Output.from_input(plan.labels)

    def _placement_group(self, name: str, args: GpuNodeGroupArgs, plan: GpuNodeGroupPlan) -> pulumi.Input[str] | None:
        """Id of the pool's own group, of the existing one, or None."""
        if plan.placement != "create":
            return plan.placement_group
        return compute.ProximityPlacementGroup(
            f"{name}-placement",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            # Azure chooses a data centre that has the size. Zones are legal beside an intent only.
            intent=compute.ProximityPlacementGroupPropertiesIntentArgs(vm_sizes=[plan.vm_size]),
            zones=plan.zones,
            tags=args.get("tags", {}),
            # A group with machines in it stays where it is; the pool, which is replaced as well, gets a new one.
            opts=self.child(replace_on_changes=["intent", "zones"]),
        ).id

    def _agent_pool(
        self, name: str, args: GpuNodeGroupArgs, plan: GpuNodeGroupPlan, group: pulumi.Input[str] | None
    ) -> "containerservice.AgentPool":
        return containerservice.AgentPool(
            f"{name}-nodes",
            resource_group_name=args["resource_group_name"],
            resource_name_=args["cluster_name"],
            agent_pool_name=plan.agent_pool_name,
            mode="User",
            type="VirtualMachineScaleSets",
            vm_size=plan.vm_size,
            vnet_subnet_id=args["subnet_id"],
            enable_auto_scaling=True,
            min_count=plan.min_count,
            # AKS wants it at creation, autoscaler or not (pulumi/pulumi-azure-native#2943).
            count=plan.count,
            max_count=plan.max_count,
            availability_zones=plan.zones,
            proximity_placement_group_id=group,
            capacity_reservation_group_id=plan.reservation_id,
            scale_set_priority="Spot" if plan.spot else "Regular",
            scale_set_eviction_policy="Delete" if plan.spot else None,
            spot_max_price=plan.spot_max_price,
            scale_down_mode=plan.scale_down,
            os_type="Linux",
            os_sku=plan.os_sku,
            os_disk_size_gb=plan.disk_gib,
            os_disk_type=plan.disk_type,
            gpu_profile=containerservice.GPUProfileArgs(driver=plan.driver),
            node_labels=plan.labels,
            node_taints=plan.taints,
            # Old nodes go before new ones come: a second set of GPUs is not available. A Spot pool has no such
            # settings (https://learn.microsoft.com/azure/aks/spot-node-pool: no surge nodes, and no drain).
            upgrade_settings=None
            if plan.spot
            else containerservice.AgentPoolUpgradeSettingsArgs(max_surge="0", max_unavailable="33%"),
            tags=args.get("tags", {}),
            opts=self.child(
                # The autoscaler's number.
                ignore_changes=["count"],
                replace_on_changes=list(REPLACING),
                # The name is taken until the old one is gone; and the other order needs twice the GPUs.
                delete_before_replace=True,
            ),
        )
