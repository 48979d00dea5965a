"""Rules on a link between on-prem servers and an Azure virtual network, and their validation."""

import re
from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network

from gpufleet.rules import coerce
from gpufleet.rules.azure.location import validate_azure_location
from gpufleet.rules.generic import allowed_choice
from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.site_link import (
    VPN,
    argument_of_kind,
    existing_or_new,
    kind_needs,
    rate_enough,
    routed_one_way,
    validate_both_sides,
    validate_device,
)

EXPRESS_ROUTE = "express-route"
KINDS = (VPN, EXPRESS_ROUTE)
SKU_GBPS = {
    VPN: {"VpnGw1AZ": 0.65, "VpnGw2AZ": 1.0, "VpnGw3AZ": 1.25, "VpnGw4AZ": 5.0, "VpnGw5AZ": 10.0},
    EXPRESS_ROUTE: {"ErGw1AZ": 1.0, "ErGw2AZ": 2.0, "ErGw3AZ": 10.0},
}
"""Gateways that can be made, and Gbit/s of each for all its tunnels together:
https://learn.microsoft.com/azure/vpn-gateway/about-gateway-skus,
https://learn.microsoft.com/azure/expressroute/expressroute-about-virtual-network-gateways"""
DEFAULT_SKU = {VPN: "VpnGw1AZ", EXPRESS_ROUTE: "ErGw1AZ"}
GATEWAY_ASN = 65515
"""Number of every gateway of Azure that is given none."""
KEPT_ASNS = (8074, 8075, 12076, 65515, 65517, 65518, 65519, 65520)
"""https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-vpn-faq"""
SMALLEST = 27
"""Prefix length of the smallest subnet for a gateway that may grow."""
_OLD = re.compile(r"VpnGw[1-5]|Basic|Standard|HighPerformance|UltraPerformance")
_OF_VPN = ("customer_address", "customer_asn", "customer_bgp_address", "static_routes", "pre_shared_key")
_OF_EXPRESS_ROUTE = ("circuit_id", "authorization_key")
_OF_NEW = ("sku", "zones", "gateway_subnet_cidr", "gateway_subnet_id", "vnet_id")
_CIRCUIT = re.compile(
    r"/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Network/expressRouteCircuits/[^/]+", re.I
)
_OF_NETWORK = "the virtual network's"
_KEY = re.compile(r"[\x21-\x7e]{16,128}")


@rule("azure-link-sku", Severity.ERROR)
def sku_legal(*, sku: str, kind: str) -> Outcome:
    """A gateway has a size of its kind that can still be created: those with AZ in their names.

    Source: https://learn.microsoft.com/azure/vpn-gateway/gateway-sku-consolidation: VpnGw1 to 5 are not made since
    November 2025 and retired in September 2026; https://learn.microsoft.com/azure/expressroute/gateway-migration; https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-about-skus-legacy;
    Basic has no IKEv2 and no BGP, and its throughput is 100 Mbit/s.
    """
    legal = tuple(SKU_GBPS[kind])
    if sku in legal:
        return passed()
    if _OLD.fullmatch(sku):
        return failed("sku", sku, "is an old size, which is retired or on its way there", use_one_of("", legal))
    return failed("sku", sku, f"is not a gateway size for {kind}", use_one_of(sku, legal))


@rule("azure-link-subnet", Severity.ERROR)
def subnet_fits(*, cidr: str, vnet: str) -> Outcome:
    """The subnet of the gateways lies in the network and is a /27 or larger.

    Source: https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-about-vpn-gateway-settings: /27 for a gateway of
    each kind and for the move to another size; NetcfgSubnetRangeOutsideVnet.
    """
    try:
        inside, around = IPv4Network(cidr), IPv4Network(vnet)
    except ValueError:
        return failed("gateway_subnet_cidr", cidr, "is not an IPv4 range", "use a /27 of the network")
    if inside.prefixlen > SMALLEST:
        return failed("gateway_subnet_cidr", cidr, "is too small for a gateway that may grow", "use a /27 or larger")
    if not inside.subnet_of(around):
        return failed("gateway_subnet_cidr", cidr, f"lies outside the network's {vnet}", f"use a part of {vnet}")
    return passed()


@rule("azure-link-gateway-subnet", Severity.ERROR)
def subnet_named(*, subnet_id: str) -> Outcome:
    """A gateway lies in a subnet that is called GatewaySubnet.

    Source: https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-about-vpn-gateway-settings;
    hashicorp/terraform-provider-azurerm#875.
    """
    if re.fullmatch(r"/subscriptions/.+/virtualNetworks/[^/]+/subnets/GatewaySubnet", subnet_id):
        return passed()
    return failed("gateway_subnet_id", subnet_id, "is not a gateway subnet", "use one that is called GatewaySubnet")


@rule("azure-link-circuit", Severity.ERROR)
def circuit_legal(*, id_: str) -> Outcome:
    """An ExpressRoute circuit is given by its id.

    Source: https://learn.microsoft.com/azure/templates/microsoft.network/connections (peer)
    """
    if _CIRCUIT.fullmatch(id_):
        return passed()
    form = "/subscriptions/.../resourceGroups/.../providers/Microsoft.Network/expressRouteCircuits/NAME"
    return failed("circuit_id", id_, "is not the id of a circuit", f"use one such as {form}")


@rule("azure-link-bgp-address", Severity.ERROR)
def bgp_address(*, address: str) -> Outcome:
    """The own device's BGP address is an IPv4 address, and not one of those that Azure keeps for its own end.

    Source: https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-vpn-faq: 169.254.x.x only with custom addresses,
    which are not made here.
    """
    try:
        found = IPv4Address(address)
    except ValueError:
        return failed(
            "customer_bgp_address", address, "is not an IPv4 address", "use the device's own, such as 192.168.0.1"
        )
    if found.is_link_local:
        problem = "is an APIPA address, which needs one of Azure's own beside it"
        return failed("customer_bgp_address", address, problem, "use the device's own, such as 192.168.0.1")
    return passed()


@rule("azure-link-key", Severity.ERROR)
def key_strong(*, length: int, legal: bool) -> Outcome:
    """A pre-shared key that is plain has 16 to 128 printable characters; only its length is looked at.

    Source: https://learn.microsoft.com/azure/vpn-gateway/vpn-gateway-vpn-faq: 1 to 128 printable ASCII characters
    without spaces; fewer than 16 can be guessed from one recorded handshake (our choice).
    """
    if legal:
        return passed()
    problem = f"has {length} characters, or some that Azure does not take"
    return failed("pre_shared_key", "hidden", problem, "use 16 to 128 letters, digits and signs, without spaces")


def validate_azure_site_link(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on a line to a virtual network.

    Reads region, resource_group_name, kind, vnet_cidr, site_cidrs, customer_address, customer_asn,
    customer_bgp_address, static_routes, pre_shared_key (its length only), circuit_id, authorization_key, sku, zones,
    gateway_subnet_cidr, gateway_subnet_id, vnet_id, gateway_id, tags.
    """
    kind = coerce.text(args, "kind", VPN)
    given = {name for name in args if args.get(name) is not None}
    vnet = coerce.text(args, "vnet_cidr")
    sides = validate_both_sides("vnet_cidr", vnet, _OF_NETWORK, coerce.texts(args, "site_cidrs"))
    findings = [
        *validate_azure_location(args),
        allowed_choice(argument="kind", word=kind, legal=KINDS),
        *sides,
    ]
    if kind not in KINDS:
        return findings
    of_kind = [(name, VPN) for name in _OF_VPN] + [(name, EXPRESS_ROUTE) for name in _OF_EXPRESS_ROUTE]
    findings += [argument_of_kind(kind=kind, argument=name, of=of) for name, of in of_kind if name in given]
    findings += _gateway(
        args, given, kind, "" if any(each.argument == "vnet_cidr" and each.rejects for each in sides) else vnet
    )
    return [*findings, *(_vpn(args, given, vnet) if kind == VPN else _express_route(args, given))]


def _gateway(args: Mapping[str, object], given: set[str], kind: str, vnet: str) -> list[Finding]:
    """Findings on the gateway, which is new or there already; vnet: its network's range, empty where that is none."""
    if "gateway_id" in given:
        return [existing_or_new(argument=name, existing="gateway_id") for name in _OF_NEW if name in given]
    sku = coerce.text(args, "sku", DEFAULT_SKU[kind])
    form = sku_legal(sku=sku, kind=kind)
    findings = [form]
    if not form.rejects:
        line = "a gateway of this size"
        findings.append(rate_enough(argument="sku", value=sku, gbps=SKU_GBPS[kind][sku], line=line))
    findings += [
        allowed_choice(argument="zones", word=each, legal=("1", "2", "3")) for each in coerce.texts(args, "zones")
    ]
    if "gateway_subnet_id" in given:
        findings += [
            existing_or_new(argument=name, existing="gateway_subnet_id")
            for name in ("gateway_subnet_cidr", "vnet_id")
            if name in given
        ]
        if isinstance(args.get("gateway_subnet_id"), str):
            findings.append(subnet_named(subnet_id=coerce.text(args, "gateway_subnet_id")))
        return findings
    what = "the network in which a subnet for it is made"
    findings.append(kind_needs(kind=kind, argument="vnet_id", given="vnet_id" in given, what=what))
    if isinstance(args.get("gateway_subnet_cidr"), str) and vnet:
        findings.append(subnet_fits(cidr=coerce.text(args, "gateway_subnet_cidr"), vnet=vnet))
    return findings


def _vpn(args: Mapping[str, object], given: set[str], vnet: str) -> list[Finding]:
    key = args.get("pre_shared_key")
    needed = {
        "customer_address": "the public address of the own VPN device",
        "pre_shared_key": "the key that both ends know",
    }
    if "customer_asn" in given:
        needed["customer_bgp_address"] = "the address by which the device speaks BGP"
    findings = [
        *(kind_needs(kind=VPN, argument=name, given=name in given, what=what) for name, what in needed.items()),
        routed_one_way(bgp="customer_asn" in given, static=bool(coerce.texts(args, "static_routes"))),
    ]
    if isinstance(args.get("customer_bgp_address"), str):
        findings.append(bgp_address(address=coerce.text(args, "customer_bgp_address")))
    if isinstance(key, str):
        findings.append(key_strong(length=len(key), legal=_KEY.fullmatch(key) is not None))
    return [*findings, *validate_device(args, vnet, _OF_NETWORK, GATEWAY_ASN, KEPT_ASNS)]


def _express_route(args: Mapping[str, object], given: set[str]) -> list[Finding]:
    what = "the circuit that exists"
    findings = [kind_needs(kind=EXPRESS_ROUTE, argument="circuit_id", given="circuit_id" in given, what=what)]
    if isinstance(args.get("circuit_id"), str):
        findings.append(circuit_legal(id_=coerce.text(args, "circuit_id")))
    return findings
