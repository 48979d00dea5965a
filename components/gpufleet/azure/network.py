"""Network: a virtual network with subnets for a cluster's nodes, for Azure Batch and for private endpoints."""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict, Unpack, cast

import pulumi
from pulumi_azure_native import network

from gpufleet.azure.links import ClientsLink, ClusterNetworkLink, EndpointLink, GroupLink, SubnetLink
from gpufleet.azure.subnet_plan import ROLES, plan_azure_subnets
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.azure.network import DEFAULT_CIDR, validate_azure_network

IN_ORDER = ("batch", "nodes", "endpoints")
"""In which subnets are made. Pools of Azure Batch come within a minute or two, a cluster takes several anyway."""
WITH_NODES = ("nodes", "batch")
"""Subnets that have machines, and so a way out, a security group and a service endpoint."""

Nat = Literal["gateway", "none"]


class NetworkConfig(TypedDict):
    """Where the fleet lives. Give ``vnet_id`` and ``subnet_ids`` to use a network that exists."""

    cidr: NotRequired[str]
    """IPv4 range of the network, /8 to /24. Default 10.60.0.0/16, which AKS's own ranges leave free. A change replaces
    every subnet."""
    nat: NotRequired[Nat]
    """How nodes, which have no public address, reach the internet: gateway (a NAT gateway, paid by hour and GB) or
    none, with ``route_table_id``. Default gateway."""
    route_table_id: NotRequired[pulumi.Input[str]]
    """Route table of the subnets with nodes, for instance one that leads to the organisation's firewall."""
    vnet_id: NotRequired[pulumi.Input[str]]
    """An existing virtual network. Then nothing is created, and its ways out and security groups are what they are."""
    subnet_ids: NotRequired[Mapping[str, pulumi.Input[str]]]
    """With ``vnet_id``: the existing subnets, by nodes, batch and endpoints. Those of nodes and batch need a service
    endpoint of Microsoft.Storage where files are reached by that."""
    outbound_addresses: NotRequired[Sequence[pulumi.Input[str]]]
    """Public IPv4 addresses of ways out that are not made here: a firewall's behind ``route_table_id``, the NAT
    gateway's of an existing network. A cluster with ``authorized_ranges`` needs them. Default: none."""


class NetworkArgs(NetworkConfig, GroupLink):
    """The same, and where it is made."""


class Network(Component):
    """A virtual network with private access to storage and no inbound access from the internet."""

    vnet_id: pulumi.Output[str]
    """Id of the network."""
    subnet_ids: dict[str, pulumi.Output[str]]
    """nodes, batch and endpoints to their subnets; with a way out as soon as they are known."""
    outbound_addresses: pulumi.Output[Sequence[str]]
    """Public IPv4 addresses through which nodes reach the internet, as far as they are known."""

    def __init__(
        self, name: str, args: NetworkArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[NetworkArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: NetworkArgs) -> list[Finding]:
        return validate_azure_network(args)

    def create(self, name: str, args: NetworkArgs) -> None:
        existing = args.get("vnet_id")
        if existing is None:
            self._create(name, args)
        else:
            given = args.get("subnet_ids", {})
            self.vnet_id = pulumi.Output.from_input(existing)
            self.subnet_ids = {role: pulumi.Output.from_input(given[role]) for role in ROLES}
            self.outbound_addresses = pulumi.Output.all(*args.get("outbound_addresses", ()))

    def for_cluster(self) -> ClusterNetworkLink:
        """Where a `Cluster` has its nodes, and through which addresses these reach its API server."""
        subnet = self.subnet_ids["nodes"]
        own_gateway = self.args.get("vnet_id") is None and self.args.get("nat") != "none"
        # Without it the rule on the cluster says that the addresses are not known; an empty list would say they are.
        if not own_gateway and not self.args.get("outbound_addresses"):
            return {"subnet_id": subnet}
        return {"subnet_id": subnet, "outbound_addresses": self.outbound_addresses}

    def for_nodes(self) -> SubnetLink:
        """Where a `GpuNodeGroup` has its nodes."""
        return {"subnet_id": self.subnet_ids["nodes"]}

    def for_batch(self) -> SubnetLink:
        """Where a `BatchPool` has its nodes."""
        return {"subnet_id": self.subnet_ids["batch"]}

    def for_endpoint(self) -> EndpointLink:
        """Where `SharedFiles` or a `Registry` have a private endpoint."""
        return {"endpoint_subnet_id": self.subnet_ids["endpoints"], "vnet_id": self.vnet_id}

    def for_clients(self, *, nodes: bool = False, batch: bool = False) -> ClientsLink:
        """From where `SharedFiles` or an `NfsShare` are reached: the nodes of a cluster, those of Azure Batch, both."""
        has_clients = {"nodes": nodes, "batch": batch}
        return {"client_subnet_ids": {role: self.subnet_ids[role] for role in has_clients if has_clients[role]}}

    def _create(self, name: str, args: NetworkArgs) -> None:
        opts = self.child()
        cidr = args.get("cidr", DEFAULT_CIDR)
        made = network.VirtualNetwork(
            f"{name}-vnet",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            address_space=network.AddressSpaceArgs(address_prefixes=[cidr]),
            tags=args.get("tags", {}),
            opts=opts,
        )
        self.vnet_id = made.id
        routes = args.get("route_table_id")
        leads_out, addresses = self._nat(name, args) if args.get("nat") != "none" else (None, [])
        self.outbound_addresses = pulumi.Output.all(*args.get("outbound_addresses", ()), *addresses)
        self.subnet_ids = {}
        before: list[pulumi.Resource] = []
        parts = plan_azure_subnets(cidr)
        for role in IN_ORDER:
            machines = role in WITH_NODES
            guarded = network.NetworkSecurityGroupArgs(id=self._group(name, role, args).id) if machines else None
            subnet = network.Subnet(
                f"{name}-{role}",
                subnet_name=role,
                resource_group_name=args["resource_group_name"],
                # A network takes one change at a time: AnotherOperationInProgress, pulumi/pulumi-azure-native#699
                virtual_network_name=with_dependencies(made.name, *before),
                address_prefix=parts[role],
                default_outbound_access=False,
                nat_gateway=leads_out if machines else None,
                route_table=network.RouteTableArgs(id=routes) if machines and routes is not None else None,
                network_security_group=guarded,
                # So that storage sees the subnet, and bytes to it pass no NAT gateway, which counts them.
                service_endpoints=[network.ServiceEndpointPropertiesFormatArgs(service="Microsoft.Storage")]
                if machines
                else None,
                opts=opts,
            )
            self.subnet_ids[role] = subnet.id
            before = [subnet]

    def _group(self, name: str, role: str, args: NetworkArgs) -> "network.NetworkSecurityGroup":
        """Neighbours in the network may connect, as MPI and NCCL do on any port; nobody outside may, by ssh or else.

        Azure's default rules say as much; a rule of its own stays when somebody adds one below it.
        """
        return network.NetworkSecurityGroup(
            f"{name}-{role}-nsg",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            security_rules=[
                network.SecurityRuleArgs(
                    name="nobody-from-the-internet",
                    description="No ssh and nothing else from outside",
                    priority=4000,
                    direction="Inbound",
                    access="Deny",
                    protocol="*",
                    source_address_prefix="Internet",
                    source_port_range="*",
                    destination_address_prefix="*",
                    destination_port_range="*",
                )
            ],
            tags=args.get("tags", {}),
            opts=self.child(),
        )

    def _nat(self, name: str, args: NetworkArgs) -> "tuple[network.SubResourceArgs, list[pulumi.Output[str]]]":
        """A NAT gateway, and its public address."""
        opts = self.child()
        address = network.PublicIPAddress(
            f"{name}-nat-address",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            sku=network.PublicIPAddressSkuArgs(name="Standard"),
            public_ip_allocation_method="Static",
            tags=args.get("tags", {}),
            opts=opts,
        )
        gateway = network.NatGateway(
            f"{name}-nat",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            sku=network.NatGatewaySkuArgs(name="Standard"),
            public_ip_addresses=[network.SubResourceArgs(id=address.id)],
            tags=args.get("tags", {}),
            opts=opts,
        )
        # Azure fills it in, as the allocation is static; the SDK cannot tell that.
        return network.SubResourceArgs(id=gateway.id), [address.ip_address.apply(lambda ip: cast(str, ip))]
