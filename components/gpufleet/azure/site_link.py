"""SiteLink: the line between a virtual network and the network of on-prem servers."""

from collections.abc import Sequence
from ipaddress import IPv4Network
from typing import Literal, NotRequired, Unpack

import pulumi
from pulumi_azure_native import network

from gpufleet.azure.links import GroupLink
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding
from gpufleet.rules.azure.site_link import DEFAULT_SKU, SMALLEST, validate_azure_site_link
from gpufleet.rules.site_link import VPN

ZONES = ("1", "2", "3")
SUBNET = "GatewaySubnet"
"""The only name that Azure allows for it."""
GENERATIONS = {"VpnGw1AZ": "Generation1"}
"""Generation of a VPN gateway where it is not the second: the smallest size has the first only
(VirtualNetworkGatewaySkuCannotBeCreatedForSpecifiedVmGeneration)."""
Kind = Literal["vpn", "express-route"]


class SiteLinkArgs(GroupLink):
    """Which networks are at the two ends, and how one gets from one to the other."""

    kind: Kind
    """vpn (IPsec over the internet) or express-route (a circuit that exists)."""
    vnet_cidr: str
    """IPv4 range of the virtual network, for instance 10.60.0.0/16. No own network may overlap it."""
    site_cidrs: Sequence[str]
    """Ranges of the own networks that are to be reached, such as 192.168.10.0/24: servers, files, pods."""
    vnet_id: NotRequired[pulumi.Input[str]]
    """The virtual network, in which GatewaySubnet is made. A network takes one change at a time: pass a value that
    waits for its other subnets."""
    gateway_subnet_cidr: NotRequired[str]
    """Range of GatewaySubnet, /27 or larger. Default: the last /27 of the network."""
    gateway_subnet_id: NotRequired[pulumi.Input[str]]
    """An existing GatewaySubnet, instead of ``vnet_id``."""
    gateway_id: NotRequired[pulumi.Input[str]]
    """An existing gateway of this kind; a network has one of each. Then only the connection is made."""
    sku: NotRequired[str]
    """Size of the gateway: VpnGw1AZ (0.65 Gbit/s) to VpnGw5AZ (10), ErGw1AZ (1) to ErGw3AZ (10). Default: the
    smallest. Making one takes 20 to 45 minutes."""
    zones: NotRequired[Sequence[str]]
    """Zones of its public address. Default 1, 2 and 3; empty in a region without zones."""
    customer_address: NotRequired[str]
    """For vpn: public IPv4 address of the own VPN device, or of the NAT that it is behind."""
    customer_asn: NotRequired[int]
    """For vpn: the device's BGP number; routes are then learned. Private: 64512 to 65534 without 65515 to 65520."""
    customer_bgp_address: NotRequired[str]
    """For vpn with BGP: address by which the device speaks it, one of its own network."""
    static_routes: NotRequired[Sequence[str]]
    """For vpn without BGP: the ranges that are sent into the tunnel; each of ``site_cidrs`` is in one of them."""
    pre_shared_key: NotRequired[pulumi.Input[str]]
    """For vpn: the key that both ends know, 16 to 128 characters. Kept as a secret."""
    circuit_id: NotRequired[str]
    """For express-route: id of the circuit."""
    authorization_key: NotRequired[pulumi.Input[str]]
    """For express-route: key of an authorization, where the circuit is another subscription's. Kept as a secret."""


def last_part(cidr: str) -> str:
    """The last /27 of a network: far from the parts that are planned from its beginning."""
    net = IPv4Network(cidr)
    return str(IPv4Network((int(net.broadcast_address) - 2 ** (32 - SMALLEST) + 1, SMALLEST)))


def policy() -> "network.IpsecPolicyArgs":
    """What a tunnel agrees on: AES-GCM with 256 bits and an elliptic curve, nothing older.

    Azure's own choice lets 3DES, SHA-1 and the 1024 bits of group 2 through:
    https://learn.microsoft.com/azure/vpn-gateway/ipsec-ike-policy-howto
    """
    return network.IpsecPolicyArgs(
        ike_encryption="GCMAES256",
        ike_integrity="SHA384",
        dh_group="ECP384",
        ipsec_encryption="GCMAES256",
        ipsec_integrity="GCMAES256",
        pfs_group="ECP384",
        sa_life_time_seconds=27000,
        sa_data_size_kilobytes=102400000,
    )


class SiteLink(Component):
    """A virtual network gateway with a Site-to-Site VPN or an ExpressRoute circuit.

    The network's subnets learn the routes by themselves, unless a route table of theirs forbids it
    (disableBgpRoutePropagation). What the own side has to do is not made here.
    """

    gateway_id: pulumi.Output[str]
    """The virtual network gateway."""
    connection_id: pulumi.Output[str]
    """The connection to the own device or the circuit."""
    tunnel_addresses: pulumi.Output[Sequence[str]]
    """Public address of Azure's end of the tunnel; empty with ExpressRoute or an existing gateway."""
    pre_shared_keys: pulumi.Output[Sequence[str]]
    """The key of the tunnel. Secret; empty with ExpressRoute."""

    def __init__(
        self, name: str, args: SiteLinkArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[SiteLinkArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: SiteLinkArgs) -> list[Finding]:
        return validate_azure_site_link(args)

    def create(self, name: str, args: SiteLinkArgs) -> None:
        nothing: Sequence[str] = []
        self.tunnel_addresses = pulumi.Output.from_input(nothing)
        self.pre_shared_keys = pulumi.Output.secret(nothing)
        existing = args.get("gateway_id")
        if existing is None:
            self.gateway_id = self._gateway(name, args)
        else:
            self.gateway_id = pulumi.Output.from_input(existing)
        if args["kind"] == VPN:
            self._vpn(name, args)
        else:
            self._express_route(name, args)

    def _gateway(self, name: str, args: SiteLinkArgs) -> pulumi.Output[str]:
        vpn = args["kind"] == VPN
        sku = args.get("sku", DEFAULT_SKU[args["kind"]])
        address = network.PublicIPAddress(
            f"{name}-address",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            sku=network.PublicIPAddressSkuArgs(name="Standard"),
            public_ip_allocation_method="Static",
            # VmssVpnGatewayPublicIpsMustHaveZonesConfigured: Azure/ResourceModules#2609.
            zones=list(args.get("zones", ZONES)),
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        gateway = network.VirtualNetworkGateway(
            f"{name}-gateway",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            gateway_type="Vpn" if vpn else "ExpressRoute",
            vpn_type="RouteBased" if vpn else None,
            vpn_gateway_generation=GENERATIONS.get(sku, "Generation2") if vpn else None,
            sku=network.VirtualNetworkGatewaySkuArgs(name=sku, tier=sku),
            enable_bgp="customer_asn" in args if vpn else None,
            ip_configurations=[
                network.VirtualNetworkGatewayIPConfigurationArgs(
                    name="default",
                    private_ip_allocation_method="Dynamic",
                    subnet=network.SubResourceArgs(id=self._subnet(name, args)),
                    public_ip_address=network.SubResourceArgs(id=address.id),
                )
            ],
            tags=args.get("tags", {}),
            # A network has one of each kind.
            opts=self.child(delete_before_replace=True),
        )
        if vpn:
            # The address is the tunnel's once the gateway has it.
            self.tunnel_addresses = pulumi.Output.all(with_dependencies(address.ip_address, gateway)).apply(
                lambda known: [each for each in known if each]
            )
        return gateway.id

    def _subnet(self, name: str, args: SiteLinkArgs) -> pulumi.Input[str]:
        existing = args.get("gateway_subnet_id")
        if existing is not None:
            return existing
        parts = pulumi.Output.from_input(args["vnet_id"]).apply(lambda known: known.split("/"))
        # No security group: NetworkSecurityGroupCannotBeAttachedToGatewaySubnet.
        return network.Subnet(
            f"{name}-subnet",
            subnet_name=SUBNET,
            resource_group_name=parts.apply(lambda known: known[4]),
            virtual_network_name=parts.apply(lambda known: known[8]),
            address_prefix=args.get("gateway_subnet_cidr", last_part(args["vnet_cidr"])),
            opts=self.child(),
        ).id

    def _vpn(self, name: str, args: SiteLinkArgs) -> None:
        asn, place = args.get("customer_asn"), (args["resource_group_name"], args["region"])
        site = network.LocalNetworkGateway(
            f"{name}-site",
            resource_group_name=place[0],
            location=place[1],
            gateway_ip_address=args["customer_address"],
            local_network_address_space=None
            if asn is not None
            else network.AddressSpaceArgs(address_prefixes=list(args.get("static_routes", ()))),
            bgp_settings=None
            if asn is None
            else network.BgpSettingsArgs(asn=int(asn), bgp_peering_address=args.get("customer_bgp_address")),
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        key = pulumi.Output.secret(args["pre_shared_key"])
        self.pre_shared_keys = pulumi.Output.all(key)
        connection = network.VirtualNetworkGatewayConnection(
            f"{name}-connection",
            resource_group_name=place[0],
            location=place[1],
            connection_type="IPsec",
            connection_protocol="IKEv2",
            virtual_network_gateway1=network.VirtualNetworkGatewayArgs(id=self.gateway_id),
            local_network_gateway2=network.LocalNetworkGatewayArgs(id=site.id),
            shared_key=key,
            enable_bgp=asn is not None,
            ipsec_policies=[policy()],
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        self.connection_id = connection.id

    def _express_route(self, name: str, args: SiteLinkArgs) -> None:
        key = args.get("authorization_key")
        connection = network.VirtualNetworkGatewayConnection(
            f"{name}-connection",
            resource_group_name=args["resource_group_name"],
            location=args["region"],
            connection_type="ExpressRoute",
            virtual_network_gateway1=network.VirtualNetworkGatewayArgs(id=self.gateway_id),
            peer=network.SubResourceArgs(id=args["circuit_id"]),
            authorization_key=None if key is None else pulumi.Output.secret(key),
            tags=args.get("tags", {}),
            opts=self.child(),
        )
        self.connection_id = connection.id
