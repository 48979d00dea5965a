"""Cluster: an AKS control plane with a small system pool for the cluster's own pods."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, Unpack, cast

import pulumi
from pulumi_azure_native import containerservice, managedidentity

from gpufleet.azure.kubeconfig import cluster_kubeconfig
from gpufleet.azure.links import ClusterLink, ClusterNetworkLink, GroupLink
from gpufleet.azure.role_assignment import assign_role
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.azure.cluster import validate_azure_cluster
from gpufleet.rules.azure.system_pool import SYSTEM_TYPE, most_system_nodes

SYSTEM_POOL = "system"
Outbound = Literal["nat-gateway", "load-balancer", "routes", "none"]
Tier = Literal["Free", "Standard"]
Upgrades = Literal["none", "patch"]
_OUTBOUND: Mapping[Outbound, str] = {
    "nat-gateway": "userAssignedNATGateway",
    "load-balancer": "loadBalancer",
    "routes": "userDefinedRouting",
    "none": "none",
}
_DNS_LONGEST = 54
REPLACING = (
    "agentPoolProfiles[0].availabilityZones",
    "agentPoolProfiles[0].osDiskSizeGB",
    "agentPoolProfiles[0].vmSize",
    "agentPoolProfiles[0].vnetSubnetID",
    "apiServerAccessProfile.enablePrivateCluster",
)
"""What AKS refuses to change, beside what the provider knows of (forceNewMap of pulumi-azure-native,
provider/pkg/gen/replacement.go): the first pool is a part of the cluster, and private is for ever."""


class ClusterConfig(TypedDict):
    """An AKS cluster, who may use it, and the nodes of its own pods."""

    version: str
    """Kubernetes version, for instance "1.36", whose newest patch AKS takes, or "1.36.2". Raise it by one minor version
    at a time."""
    admins: Mapping[str, str]
    """Short name of your choice to the object id of a group of Microsoft Entra ID, whose members administer the
    cluster. You must be in one to run `up`: the cluster has no local accounts."""
    authorized_ranges: NotRequired[Sequence[str]]
    """IPv4 ranges that reach the API server over the internet. Default none: then it is private. The network's
    ``outbound_addresses`` are added, as nodes register through them."""
    private: NotRequired[bool]
    """Whether the API server has an address in the virtual network only. Default: true without ``authorized_ranges``.
    A change replaces the cluster."""
    cluster_name: NotRequired[str]
    """Name in Azure, 1 to 63 letters, digits, - and _. Default: the component's name and the stack's. A change replaces
    the cluster."""
    identity_id: NotRequired[pulumi.Input[str]]
    """Existing user-assigned identity of the control plane, with Network Contributor on the subnet. Default: made
    here."""
    tier: NotRequired[Tier]
    """Free, or Standard with an SLA and a faster API server, for more than ten nodes. Default Free."""
    zones: NotRequired[Sequence[str]]
    """Zones of the system nodes: 1, 2, 3. Default none: Azure chooses. A change replaces the cluster."""
    system_type: NotRequired[str]
    """VM size of the system nodes. Default Standard_D4s_v5. A change replaces the cluster."""
    system_min: NotRequired[int]
    """Least number of system nodes, at least 1. Default 2. AKS refuses to raise it above the number that the state
    remembers: `pulumi refresh` first, when the nodes are there."""
    system_max: NotRequired[int]
    """Greatest number of system nodes. Default 3, or ``system_min`` if that is more."""
    outbound: NotRequired[Outbound]
    """How nodes reach the internet: nat-gateway (that of the subnet), load-balancer (AKS makes one, with a public
    address), routes (a route table of the subnet) or none. Default nat-gateway. A change replaces the cluster."""
    pod_cidr: NotRequired[str]
    """IPv4 range of pods, in the overlay. Default 10.244.0.0/16. It must not overlap the virtual network, nor what it
    is connected to. A change replaces the cluster."""
    service_cidr: NotRequired[str]
    """IPv4 range of Kubernetes services, as ``pod_cidr``. Default 10.0.0.0/16."""
    upgrade_channel: NotRequired[Upgrades]
    """none, or patch: AKS upgrades the cluster to new patches by itself, draining node after node. Default none: that
    stops trainings at a time that nobody chose."""
    idle_minutes: NotRequired[int]
    """Minutes without need of a node after which the autoscaler removes it. Default 10."""


class ClusterArgs(ClusterConfig, GroupLink, ClusterNetworkLink):
    """The same, where it is made, and from where its nodes pull images."""

    registry_id: NotRequired[pulumi.Input[str]]
    """Resource id of a registry (ACR) that its nodes may pull from. Default: none."""


def physical_name(name: str, args: ClusterArgs) -> str:
    """The cluster's name in Azure: as given, or from component and stack, so that two stacks of a group differ."""
    made = re.sub(r"[^0-9A-Za-z-]", "-", f"{name}-{pulumi.get_stack()}")[:63].strip("-")
    return args.get("cluster_name") or made


class Cluster(Component):
    """An AKS cluster with Entra ID login only, workload identity, storage drivers, and Cilium on Azure CNI Overlay."""

    cluster_name: pulumi.Output[str]
    """Name in Azure."""
    cluster_id: pulumi.Output[str]
    """Resource id."""
    kubeconfig: pulumi.Output[str]
    """A kubeconfig (JSON), secret; it asks kubelogin for tokens."""
    oidc_issuer_url: pulumi.Output[str]
    """Who vouches for service accounts, for federated credentials of workload identity."""
    kubelet_principal_id: pulumi.Output[str]
    """The identity by which nodes pull images and mount storage; AKS makes it. Roles are given to it."""
    node_resource_group: pulumi.Output[str]
    """The resource group that AKS makes for nodes and disks, and deletes with the cluster."""

    def __init__(
        self, name: str, args: ClusterArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[ClusterArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: ClusterArgs) -> list[Finding]:
        return validate_azure_cluster(args)

    def create(self, name: str, args: ClusterArgs) -> None:
        cluster = self._control_plane(name, args)
        self.cluster_name = cluster.name
        self.cluster_id = cluster.id
        # Azure fills these in; the SDK cannot tell that from what one may leave out.
        self.oidc_issuer_url = cluster.oidc_issuer_profile.apply(lambda profile: cast(Any, profile).issuer_url)
        self.kubelet_principal_id = cluster.identity_profile.apply(
            lambda profiles: cast(Any, profiles)["kubeletidentity"].object_id
        )
        self.node_resource_group = cluster.node_resource_group.apply(lambda group: cast(str, group))
        self.kubeconfig = cluster_kubeconfig(cluster, args["resource_group_name"], self)
        registry = args.get("registry_id")
        if registry is not None:
            # Not by the registry: pools of Azure Batch wait for it, and need not wait for the cluster.
            assign_role(f"{name}-pulls", self, "AcrPull", registry, self.kubelet_principal_id)

    def for_nodes(self) -> ClusterLink:
        """What a `GpuNodeGroup` joins."""
        return {"cluster_name": self.cluster_name}

    def _control_plane(self, name: str, args: ClusterArgs) -> "containerservice.ManagedCluster":
        physical = physical_name(name, args)
        identity, rights = self._identity(name, args)
        ranges = list(args.get("authorized_ranges", []))
        private = args.get("private", not ranges)
        on = {"enabled": True}
        return containerservice.ManagedCluster(
            f"{name}-cluster",
            resource_group_name=args["resource_group_name"],
            resource_name_=physical,
            location=args["region"],
            dns_prefix=physical.replace("_", "-")[:_DNS_LONGEST].strip("-"),
            kubernetes_version=args["version"],
            sku=containerservice.ManagedClusterSKUArgs(name="Base", tier=args.get("tier", "Free")),
            identity=containerservice.ManagedClusterIdentityArgs(
                type=containerservice.ResourceIdentityType.USER_ASSIGNED, user_assigned_identities=[identity]
            ),
            agent_pool_profiles=[self._system_pool(args)],
            api_server_access_profile=containerservice.ManagedClusterAPIServerAccessProfileArgs(
                enable_private_cluster=private,
                private_dns_zone="system" if private else None,
                enable_private_cluster_public_fqdn=False if private else None,
                authorized_ip_ranges=_api_ranges(ranges, args.get("outbound_addresses", ())) if ranges else None,
            ),
            # No client certificates: they never expire with a person's account. Roles of Azure count as well as those
            # that the cluster binds to groups.
            disable_local_accounts=True,
            enable_rbac=True,
            aad_profile=containerservice.ManagedClusterAADProfileArgs(
                managed=True, enable_azure_rbac=True, admin_group_object_ids=sorted(args["admins"].values())
            ),
            oidc_issuer_profile=containerservice.ManagedClusterOIDCIssuerProfileArgs(**on),
            security_profile=containerservice.ManagedClusterSecurityProfileArgs(
                workload_identity=containerservice.ManagedClusterSecurityProfileWorkloadIdentityArgs(**on)
            ),
            storage_profile=containerservice.ManagedClusterStorageProfileArgs(
                blob_csi_driver=containerservice.ManagedClusterStorageProfileBlobCSIDriverArgs(**on),
                file_csi_driver=containerservice.ManagedClusterStorageProfileFileCSIDriverArgs(**on),
                disk_csi_driver=containerservice.ManagedClusterStorageProfileDiskCSIDriverArgs(**on),
            ),
            network_profile=_network(args),
            auto_scaler_profile=containerservice.ManagedClusterPropertiesAutoScalerProfileArgs(
                scale_down_unneeded_time=f"{int(args.get('idle_minutes', 10))}m"
            ),
            auto_upgrade_profile=containerservice.ManagedClusterAutoUpgradeProfileArgs(
                upgrade_channel=args.get("upgrade_channel", "none"),
                # The system's own unattended upgrades, at night and without a reboot: the other channels drain nodes.
                node_os_upgrade_channel="Unmanaged",
            ),
            tags=args.get("tags", {}),
            opts=self.child(
                # The autoscaler's number.
                ignore_changes=["agentPoolProfiles[0].count"],
                replace_on_changes=list(REPLACING),
                # The name is taken until the old one is gone.
                delete_before_replace=True,
                # AKS joins nodes to the subnet as this identity, and takes them out again.
                depends_on=rights,
            ),
        )

    def _identity(self, name: str, args: ClusterArgs) -> tuple[pulumi.Input[str], list[pulumi.Resource]]:
        """The control plane's identity, and the rights that it must have before the cluster is made."""
        given = args.get("identity_id")
        if given is not None:
            return given, []
        identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        rights = assign_role(f"{name}-subnet", self, "Network Contributor", args["subnet_id"], identity.principal_id)
        return identity.id, [rights]

    def _system_pool(self, args: ClusterArgs) -> "containerservice.ManagedClusterAgentPoolProfileArgs":
        least = int(args.get("system_min", 2))
        return containerservice.ManagedClusterAgentPoolProfileArgs(
            name=SYSTEM_POOL,
            mode="System",
            type="VirtualMachineScaleSets",
            vm_size=args.get("system_type", SYSTEM_TYPE),
            orchestrator_version=args["version"],
            vnet_subnet_id=args["subnet_id"],
            enable_auto_scaling=True,
            min_count=least,
            count=least,
            max_count=most_system_nodes(args),
            availability_zones=list(args.get("zones", [])) or None,
            os_type="Linux",
            os_sku="Ubuntu",
            os_disk_size_gb=128,
            tags=args.get("tags", {}),
        )


def _api_ranges(ranges: Sequence[str], outbound: pulumi.Input[Sequence[str]]) -> pulumi.Output[Sequence[str]]:
    """The authorized ranges with the nodes' own ways out: AKS itself adds those of its load balancer only.

    Source: github.com/MicrosoftDocs/azure-docs/issues/111834, 97437
    """
    addresses: pulumi.Output[Sequence[str]] = pulumi.Output.from_input(outbound)
    return addresses.apply(lambda known: [*ranges, *(f"{address}/32" for address in known)])


def _network(args: ClusterArgs) -> "containerservice.ContainerServiceNetworkProfileArgs":
    """Pods in an overlay, so that they take no addresses of the virtual network."""
    services = args.get("service_cidr", "10.0.0.0/16")
    return containerservice.ContainerServiceNetworkProfileArgs(
        network_plugin="azure",
        network_plugin_mode="overlay",
        network_dataplane="cilium",
        network_policy="cilium",
        pod_cidr=args.get("pod_cidr", "10.244.0.0/16"),
        service_cidr=services,
        dns_service_ip=str(ipaddress.IPv4Network(services)[10]),
        outbound_type=_OUTBOUND[args.get("outbound", "nat-gateway")],
        load_balancer_sku="standard",
    )
