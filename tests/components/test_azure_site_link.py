"""SiteLink on Azure: exact inputs of every child, what is taken instead of made, and what is refused."""

from typing import cast

import pytest

from gpufleet.azure.site_link import SiteLink, SiteLinkArgs, last_part
from tests.components.azure_place import GROUP, HERE, PLACE, SUBSCRIPTION, known
from tests.components.recorder import Recording, Secret, construct, refusal

GATEWAY = "azure-native:network:VirtualNetworkGateway"
SITE = "azure-native:network:LocalNetworkGateway"
CONNECTION = "azure-native:network:VirtualNetworkGatewayConnection"
SUBNET = "azure-native:network:Subnet"
ADDRESS = "azure-native:network:PublicIPAddress"
VNET = f"{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Network/virtualNetworks/hub"
CIRCUIT = f"{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Network/expressRouteCircuits/lab"
KEY = "a-long-enough-key-for-a-test"
BASE = {
    **PLACE,
    "kind": "vpn",
    "vnet_id": VNET,
    "vnet_cidr": "10.60.0.0/16",
    "site_cidrs": ["192.168.10.0/24"],
    "customer_address": "203.0.113.7",
    "customer_asn": 65010,
    "customer_bgp_address": "192.168.10.1",
    "pre_shared_key": KEY,
}
OF_VPN = ("customer_address", "customer_asn", "customer_bgp_address", "pre_shared_key")
EXPRESS = {**dict.fromkeys(OF_VPN), "kind": "express-route", "circuit_id": CIRCUIT}


def arguments(**changes: object) -> SiteLinkArgs:
    """The base with ``changes``; None takes an argument away."""
    return cast(SiteLinkArgs, {key: value for key, value in {**BASE, **changes}.items() if value is not None})


def build(preview: bool, /, **changes: object) -> Recording[SiteLink]:
    computed = {ADDRESS: {"ipAddress": "198.51.100.1"}}
    return construct(lambda: SiteLink("line", arguments(**changes)), preview, computed)


def test_a_vpn_with_bgp(preview: bool) -> None:
    recording = build(preview)
    assert recording.one(ADDRESS).inputs == {
        **HERE,
        "sku": {"name": "Standard"},
        "publicIPAllocationMethod": "Static",
        "zones": ["1", "2", "3"],
    }
    subnet = recording.one(SUBNET).inputs
    assert {key: subnet[key] for key in ("subnetName", "resourceGroupName", "virtualNetworkName", "addressPrefix")} == {
        "subnetName": "GatewaySubnet",
        "resourceGroupName": "theirs",
        "virtualNetworkName": "hub",
        "addressPrefix": "10.60.255.224/27",
    }
    assert "networkSecurityGroup" not in subnet
    assert recording.one(GATEWAY).inputs == {
        **HERE,
        "gatewayType": "Vpn",
        "vpnType": "RouteBased",
        "vpnGatewayGeneration": "Generation1",
        "sku": {"name": "VpnGw1AZ", "tier": "VpnGw1AZ"},
        "enableBgp": True,
        "ipConfigurations": [
            {
                "name": "default",
                "privateIPAllocationMethod": "Dynamic",
                "subnet": {"id": known(preview, "line-subnet-id")},
                "publicIPAddress": {"id": known(preview, "line-address-id")},
            }
        ],
    }
    assert recording.one(SITE).inputs == {
        **HERE,
        "gatewayIpAddress": "203.0.113.7",
        "bgpSettings": {"asn": 65010, "bgpPeeringAddress": "192.168.10.1"},
    }
    assert recording.one(CONNECTION).inputs == {
        **HERE,
        "connectionType": "IPsec",
        "connectionProtocol": "IKEv2",
        "virtualNetworkGateway1": {"id": known(preview, "line-gateway-id")},
        "localNetworkGateway2": {"id": known(preview, "line-site-id")},
        "sharedKey": Secret(KEY),
        "enableBgp": True,
        "ipsecPolicies": [
            {
                "ikeEncryption": "GCMAES256",
                "ikeIntegrity": "SHA384",
                "dhGroup": "ECP384",
                "ipsecEncryption": "GCMAES256",
                "ipsecIntegrity": "GCMAES256",
                "pfsGroup": "ECP384",
                "saLifeTimeSeconds": 27000,
                "saDataSizeKilobytes": 102400000,
            }
        ],
    }
    assert recording.outputs["line"] == {
        "gateway_id": known(preview, "line-gateway-id"),
        "connection_id": known(preview, "line-connection-id"),
        "tunnel_addresses": known(preview, ["198.51.100.1"]),
        "pre_shared_keys": Secret([KEY]),
    }


def test_a_vpn_with_static_routes_and_a_larger_gateway(preview: bool) -> None:
    changes = {"customer_asn": None, "customer_bgp_address": None, "static_routes": ["192.168.0.0/16"]}
    recording = build(preview, **changes, sku="VpnGw3AZ", zones=[], gateway_subnet_cidr="10.60.255.0/26")
    assert recording.one(SITE).inputs == {
        **HERE,
        "gatewayIpAddress": "203.0.113.7",
        "localNetworkAddressSpace": {"addressPrefixes": ["192.168.0.0/16"]},
    }
    made = recording.one(GATEWAY).inputs
    assert (made["vpnGatewayGeneration"], made["enableBgp"]) == ("Generation2", False)
    assert recording.one(ADDRESS).inputs["zones"] == []
    assert recording.one(SUBNET).inputs["addressPrefix"] == "10.60.255.0/26"


def test_an_express_route(preview: bool) -> None:
    recording = build(preview, **EXPRESS, authorization_key="from-the-circuits-owner")
    made = recording.one(GATEWAY).inputs
    assert (made["gatewayType"], made["sku"]) == ("ExpressRoute", {"name": "ErGw1AZ", "tier": "ErGw1AZ"})
    assert not {"vpnType", "vpnGatewayGeneration", "enableBgp"} & set(made)
    assert recording.one(CONNECTION).inputs == {
        **HERE,
        "connectionType": "ExpressRoute",
        "virtualNetworkGateway1": {"id": known(preview, "line-gateway-id")},
        "peer": {"id": CIRCUIT},
        "authorizationKey": Secret("from-the-circuits-owner"),
    }
    assert recording.of(SITE) == []
    assert recording.outputs["line"]["tunnel_addresses"] == []


def test_what_exists_is_taken(preview: bool) -> None:
    gateway = f"{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Network/virtualNetworkGateways/hub"
    recording = build(preview, gateway_id=gateway, vnet_id=None)
    assert {each.type for each in recording.resources if each.custom} == {SITE, CONNECTION}
    assert recording.one(CONNECTION).inputs["virtualNetworkGateway1"] == {"id": gateway}
    subnet = f"{VNET}/subnets/GatewaySubnet"
    recording = build(preview, gateway_subnet_id=subnet, vnet_id=None)
    assert recording.of(SUBNET) == []
    (configuration,) = cast("list[dict[str, object]]", recording.one(GATEWAY).inputs["ipConfigurations"])
    assert configuration["subnet"] == {"id": subnet}


def test_what_the_gateway_needs_outlives_it(preview: bool) -> None:
    recording = build(preview)
    assert recording.one(GATEWAY).delete_before_replace is True
    assert recording.one(GATEWAY).property_dependencies["ipConfigurations"] == {"line-subnet", "line-address"}
    needs = recording.one(CONNECTION).property_dependencies
    assert (needs["virtualNetworkGateway1"], needs["localNetworkGateway2"]) == ({"line-gateway"}, {"line-site"})


def test_the_last_part_of_a_network() -> None:
    assert [last_part(each) for each in ("10.60.0.0/16", "10.0.0.0/24")] == ["10.60.255.224/27", "10.0.0.224/27"]


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "a size that is retired": (
        {"sku": "VpnGw1"},
        [
            "sku=VpnGw1: is an old size, which is retired or on its way there; use VpnGw1AZ, VpnGw2AZ, VpnGw3AZ, "
            "VpnGw4AZ or VpnGw5AZ [azure-link-sku]"
        ],
    ),
    "both kinds, and ranges that overlap": (
        {"circuit_id": CIRCUIT, "site_cidrs": ["10.0.0.0/8"]},
        [
            "site_cidrs=10.0.0.0/8: overlaps 10.60.0.0/16, which is the virtual network's, so that packets to it never "
            "reach the line; give one of the two networks another range [any-link-overlap]",
            "circuit_id=given: belongs to kind=express-route, and this line is kind=vpn; remove it, or use "
            "express-route [any-link-of-kind]",
        ],
    ),
    "a short key, Azure's own number, and no address for BGP": (
        {"pre_shared_key": "short", "customer_asn": 65515, "customer_bgp_address": None},
        [
            "customer_bgp_address=null: is not given, and kind=vpn needs the address by which the device speaks BGP; "
            "give customer_bgp_address [any-link-needs]",
            "pre_shared_key=hidden: has 5 characters, or some that Azure does not take; use 16 to 128 letters, digits "
            "and signs, without spaces [azure-link-key]",
            "customer_asn=65515: is reserved by the cloud; use one that is private to you, 64512 to 65534, for "
            "instance 65010 [any-link-asn]",
        ],
    ),
    "a subnet outside, and BGP with static routes": (
        {"gateway_subnet_cidr": "10.61.0.0/27", "static_routes": ["192.168.0.0/16"]},
        [
            "gateway_subnet_cidr=10.61.0.0/27: lies outside the network's 10.60.0.0/16; use a part of 10.60.0.0/16 "
            "[azure-link-subnet]",
            "static_routes=given: are static routes, and customer_asn says BGP; remove static_routes, or customer_asn "
            "[any-link-routing]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    found = refusal(lambda: SiteLink("line", arguments(**changes)), preview)
    assert found == [f"line: {line}" for line in lines]
    assert KEY not in "".join(found), GROUP
