"""SiteLink: the line between a VPC and the network of on-prem servers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import directconnect, ec2

from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding
from gpufleet.rules.aws.site_link import GATEWAY_ASN, validate_site_link
from gpufleet.rules.site_link import VPN

STATIC_ASN = 65000
"""Number of a device without BGP: EC2 wants one, and takes this where none is given."""
SMALL_ASN = 2147483647
"""Largest BGP number of EC2's BgpAsn; larger ones go into BgpAsnExtended."""

Kind = Literal["vpn", "direct-connect"]


class SiteLinkConfig(TypedDict):
    """How one gets from one end to the other."""

    kind: Kind
    """vpn (IPsec over the internet, 1.25 Gbit/s) or direct-connect (a line that exists, ended at a Direct Connect
    gateway)."""
    customer_address: NotRequired[str]
    """For vpn: public IPv4 address of the own VPN device, or of the NAT that it is behind."""
    customer_asn: NotRequired[int]
    """For vpn: the device's BGP number; routes are then learned. Private: 64512 to 65534."""
    static_routes: NotRequired[Sequence[str]]
    """For vpn without BGP: the ranges that are sent into the tunnels; each of ``site_cidrs`` is in one of them."""
    customer_gateway_id: NotRequired[pulumi.Input[str]]
    """For vpn: an existing customer gateway (cgw-...). With ``static_routes`` the connection has no BGP."""
    direct_connect_gateway_id: NotRequired[str]
    """For direct-connect: id of the gateway that the line's private virtual interface is attached to, in this
    account."""
    announced_cidrs: NotRequired[Sequence[str]]
    """For direct-connect: what is announced to the own network. Default: ``vpc_cidr``. At most 20."""
    gbps: NotRequired[float]
    """For direct-connect: Gbit/s of the connection. Only for the estimate of time that is printed."""
    vpn_gateway_id: NotRequired[pulumi.Input[str]]
    """An existing virtual private gateway (vgw-...) that is attached to the VPC. A VPC has one at most."""
    gateway_asn: NotRequired[int]
    """BGP number of the virtual private gateway that is made here. Default 64512. A change replaces gateway and
    tunnels."""


class SiteLinkArgs(SiteLinkConfig):
    """The same, and which networks are at the two ends."""

    vpc_id: pulumi.Input[str]
    """The VPC."""
    vpc_cidr: str
    """Its IPv4 range, for instance 10.0.0.0/16. No own network may overlap it."""
    route_table_ids: Mapping[str, pulumi.Input[str]]
    """Route tables that learn the way to the own networks: a short name of your choice to the table, for instance
    {"private": "rtb-..."}. Those of all subnets with nodes."""
    site_cidrs: Sequence[str]
    """Ranges of the own networks that are to be reached, such as 192.168.10.0/24: servers, files, and the pods of own
    servers in an EKS cluster."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def tunnel_options(number: int) -> dict[str, Any]:
    """What a tunnel may agree on: IKEv2, AES-GCM and elliptic curves only; the own device begins.

    EC2's own defaults let IKEv1, SHA-1 and the 1024 bits of group 2 through:
    https://docs.aws.amazon.com/vpn/latest/s2svpn/VPNTunnels.html
    """
    encryption, groups = ["AES128-GCM-16", "AES256-GCM-16"], [19, 20, 21]
    options = {
        "ike_versions": ["ikev2"],
        "phase1_encryption_algorithms": encryption,
        "phase1_integrity_algorithms": ["SHA2-256", "SHA2-384", "SHA2-512"],
        "phase1_dh_group_numbers": groups,
        "phase2_encryption_algorithms": encryption,
        "phase2_integrity_algorithms": ["SHA2-256", "SHA2-384", "SHA2-512"],
        "phase2_dh_group_numbers": groups,
        "dpd_timeout_action": "clear",
        "startup_action": "add",
    }
    return {f"tunnel{number}_{name}": value for name, value in options.items()}


def _tunnel(connection: "ec2.VpnConnection", number: int) -> pulumi.Output[dict[str, str]]:
    """One tunnel as the own device has to know it."""
    return pulumi.Output.all(
        address=getattr(connection, f"tunnel{number}_address"),
        pre_shared_key=getattr(connection, f"tunnel{number}_preshared_key"),
        cloud_inside_address=getattr(connection, f"tunnel{number}_vgw_inside_address"),
        site_inside_address=getattr(connection, f"tunnel{number}_cgw_inside_address"),
        cloud_asn=getattr(connection, f"tunnel{number}_bgp_asn"),
    )


class SiteLink(Component):
    """A virtual private gateway, and a Site-to-Site VPN or the association with a Direct Connect gateway.

    Routes reach the tables by propagation, so that they are there while the line is up and go when it is down. What the
    own side has to do (device, firewall, routes back) is not made here: the outputs say what it needs to know.
    """

    gateway_id: pulumi.Output[str]
    """The virtual private gateway."""
    connection_id: pulumi.Output[str | None]
    """The VPN connection; None with Direct Connect."""
    tunnel_addresses: pulumi.Output[Sequence[str]]
    """Public addresses of the cloud's end of both tunnels; empty with Direct Connect."""
    pre_shared_keys: pulumi.Output[Sequence[str]]
    """Keys of both tunnels, in the same order. Secret."""
    tunnels: pulumi.Output[Sequence[Mapping[str, str]]]
    """What the own device has to know of each tunnel: address, pre_shared_key, cloud_inside_address,
    site_inside_address (both in a /30 of 169.254.0.0/16), cloud_asn. Secret; empty with Direct Connect."""
    device_configuration: pulumi.Output[str | None]
    """EC2's description of the connection for the own device, in XML, keys included. Secret; None with Direct
    Connect."""

    def __init__(
        self, name: str, args: SiteLinkArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[SiteLinkArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: SiteLinkArgs) -> list[Finding]:
        return validate_site_link(args)

    def create(self, name: str, args: SiteLinkArgs) -> None:
        self._gateway(name, args)
        for table, table_id in args["route_table_ids"].items():
            ec2.VpnGatewayRoutePropagation(
                f"{name}-routes-{table}",
                vpn_gateway_id=self.gateway_id,
                route_table_id=table_id,
                opts=self.child(),
            )
        if args["kind"] == VPN:
            self._vpn(name, args)
        else:
            self._direct_connect(name, args)

    def _gateway(self, name: str, args: SiteLinkArgs) -> None:
        existing = args.get("vpn_gateway_id")
        if existing is not None:
            self.gateway_id = pulumi.Output.from_input(existing)
            return
        child = f"{name}-gateway"
        gateway = ec2.VpnGateway(
            child,
            vpc_id=args["vpc_id"],
            amazon_side_asn=str(args.get("gateway_asn", GATEWAY_ASN)),
            tags=self.tags(child),
            # InvalidVpcState: a VPC has one at a time.
            opts=self.child(delete_before_replace=True),
        )
        self.gateway_id = gateway.id

    def _vpn(self, name: str, args: SiteLinkArgs) -> None:
        routes = args.get("static_routes", ())
        child = f"{name}-vpn"
        connection = ec2.VpnConnection(
            child,
            type="ipsec.1",
            vpn_gateway_id=self.gateway_id,
            customer_gateway_id=self._customer(name, args),
            static_routes_only=bool(routes),
            **tunnel_options(1),
            **tunnel_options(2),
            tags=self.tags(child),
            # A new gateway comes after the old one, which goes only without connections.
            opts=self.child(replace_on_changes=["vpnGatewayId"]),
        )
        for cidr in routes:
            ec2.VpnConnectionRoute(
                f"{name}-to-{cidr.replace('/', '-')}",
                vpn_connection_id=connection.id,
                destination_cidr_block=cidr,
                opts=self.child(),
            )
        self.connection_id = connection.id
        self.tunnel_addresses = pulumi.Output.all(connection.tunnel1_address, connection.tunnel2_address)
        keys = pulumi.Output.all(connection.tunnel1_preshared_key, connection.tunnel2_preshared_key)
        self.pre_shared_keys = pulumi.Output.secret(keys)
        both = pulumi.Output.all(_tunnel(connection, 1), _tunnel(connection, 2))
        self.tunnels = pulumi.Output.secret(both)
        self.device_configuration = pulumi.Output.secret(connection.customer_gateway_configuration)

    def _customer(self, name: str, args: SiteLinkArgs) -> pulumi.Input[str]:
        """The customer gateway: the own device, as EC2 knows it."""
        existing = args.get("customer_gateway_id")
        if existing is not None:
            return existing
        child = f"{name}-customer"
        asn = int(args.get("customer_asn", STATIC_ASN))
        gateway = ec2.CustomerGateway(
            child,
            type="ipsec.1",
            ip_address=args["customer_address"],
            # EC2 has two fields for it: hashicorp/terraform-provider-aws#14983.
            bgp_asn=str(asn) if asn <= SMALL_ASN else None,
            bgp_asn_extended=str(asn) if asn > SMALL_ASN else None,
            tags=self.tags(child),
            opts=self.child(),
        )
        return gateway.id

    def _direct_connect(self, name: str, args: SiteLinkArgs) -> None:
        directconnect.GatewayAssociation(
            f"{name}-direct-connect",
            dx_gateway_id=args["direct_connect_gateway_id"],
            associated_gateway_id=self.gateway_id,
            allowed_prefixes=list(args.get("announced_cidrs", [args["vpc_cidr"]])),
            opts=self.child(),
        )
        nothing: Sequence[str] = []
        self.connection_id = pulumi.Output.from_input(None)
        self.tunnel_addresses = pulumi.Output.from_input(nothing)
        self.pre_shared_keys = pulumi.Output.secret(nothing)
        no_tunnels: Sequence[Mapping[str, str]] = []
        self.tunnels = pulumi.Output.secret(no_tunnels)
        self.device_configuration = pulumi.Output.from_input(None)
