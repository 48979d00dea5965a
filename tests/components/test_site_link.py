"""SiteLink on AWS: exact inputs of every child, what is taken instead of made, and what is refused."""

from typing import cast

import pytest

from gpufleet.aws.site_link import SiteLink, SiteLinkArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, Secret, construct, refusal

GATEWAY = "aws:ec2/vpnGateway:VpnGateway"
CUSTOMER = "aws:ec2/customerGateway:CustomerGateway"
VPN = "aws:ec2/vpnConnection:VpnConnection"
STATIC = "aws:ec2/vpnConnectionRoute:VpnConnectionRoute"
PROPAGATION = "aws:ec2/vpnGatewayRoutePropagation:VpnGatewayRoutePropagation"
DIRECT = "aws:directconnect/gatewayAssociation:GatewayAssociation"
DX = "1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4"
TAGS = {"owner": "ml", **MARK}
BASE = {
    "kind": "vpn",
    "vpc_id": "vpc-1",
    "vpc_cidr": "10.0.0.0/16",
    "route_table_ids": {"az1": "rtb-1", "az2": "rtb-2"},
    "site_cidrs": ["192.168.10.0/24", "172.20.0.0/16"],
    "customer_address": "203.0.113.7",
    "customer_asn": 65010,
    "tags": TAGS,
}
OF_VPN = ("customer_address", "customer_asn")
TUNNEL_1 = ("198.51.100.1", "key-one")
TUNNEL_2 = ("198.51.100.2", "key-two")
ANSWER = {
    VPN: {
        "tunnel1Address": TUNNEL_1[0],
        "tunnel2Address": TUNNEL_2[0],
        "tunnel1PresharedKey": TUNNEL_1[1],
        "tunnel2PresharedKey": TUNNEL_2[1],
        "customerGatewayConfiguration": "<vpn_connection/>",
    }
    | {f"tunnel{number}VgwInsideAddress": f"169.254.2{number}.1" for number in (1, 2)}
    | {f"tunnel{number}CgwInsideAddress": f"169.254.2{number}.2" for number in (1, 2)}
    | {f"tunnel{number}BgpAsn": "64512" for number in (1, 2)}
}


def arguments(**changes: object) -> SiteLinkArgs:
    """The base with ``changes``; None takes an argument away."""
    return cast(SiteLinkArgs, {key: value for key, value in {**BASE, **changes}.items() if value is not None})


def build(preview: bool, /, **changes: object) -> Recording[SiteLink]:
    return construct(lambda: SiteLink("line", arguments(**changes)), preview, ANSWER)


def direct(**changes: object) -> dict[str, object]:
    """Changes that make a Direct Connect of the base."""
    return {"kind": "direct-connect", "direct_connect_gateway_id": DX, **dict.fromkeys(OF_VPN), **changes}


def known(preview: bool, value: object) -> object:
    return UNKNOWN if preview else value


def tunnel(number: int) -> dict[str, object]:
    """Only what is safe today: IKEv2, AES-GCM, SHA-2 and groups 19 to 21."""
    options: dict[str, object] = {
        "IkeVersions": ["ikev2"],
        "Phase1EncryptionAlgorithms": ["AES128-GCM-16", "AES256-GCM-16"],
        "Phase1IntegrityAlgorithms": ["SHA2-256", "SHA2-384", "SHA2-512"],
        "Phase1DhGroupNumbers": [19, 20, 21],
        "Phase2EncryptionAlgorithms": ["AES128-GCM-16", "AES256-GCM-16"],
        "Phase2IntegrityAlgorithms": ["SHA2-256", "SHA2-384", "SHA2-512"],
        "Phase2DhGroupNumbers": [19, 20, 21],
        "DpdTimeoutAction": "clear",
        "StartupAction": "add",
    }
    return {f"tunnel{number}{name}": value for name, value in options.items()}


def test_a_vpn_with_bgp(preview: bool) -> None:
    recording = build(preview)
    gateway = known(preview, "line-gateway-id")
    assert recording.inputs(GATEWAY) == {
        "line-gateway": {"vpcId": "vpc-1", "amazonSideAsn": "64512", "tags": {**TAGS, "Name": "line-gateway"}}
    }
    assert recording.inputs(CUSTOMER) == {
        "line-customer": {
            "type": "ipsec.1",
            "ipAddress": "203.0.113.7",
            "bgpAsn": "65010",
            "tags": {**TAGS, "Name": "line-customer"},
        }
    }
    assert recording.inputs(VPN) == {
        "line-vpn": {
            "type": "ipsec.1",
            "vpnGatewayId": gateway,
            "customerGatewayId": known(preview, "line-customer-id"),
            "staticRoutesOnly": False,
            **tunnel(1),
            **tunnel(2),
            "tags": {**TAGS, "Name": "line-vpn"},
        }
    }
    assert recording.inputs(PROPAGATION) == {
        "line-routes-az1": {"vpnGatewayId": gateway, "routeTableId": "rtb-1"},
        "line-routes-az2": {"vpnGatewayId": gateway, "routeTableId": "rtb-2"},
    }
    assert recording.of(STATIC) == recording.of(DIRECT) == []


def test_outputs_of_a_vpn(preview: bool) -> None:
    assert build(preview).outputs["line"] == {
        "gateway_id": known(preview, "line-gateway-id"),
        "connection_id": known(preview, "line-vpn-id"),
        "tunnel_addresses": known(preview, [TUNNEL_1[0], TUNNEL_2[0]]),
        "pre_shared_keys": known(preview, Secret([TUNNEL_1[1], TUNNEL_2[1]])),
        "tunnels": known(
            preview,
            Secret(
                [
                    {
                        "address": address,
                        "pre_shared_key": key,
                        "cloud_inside_address": f"169.254.2{number}.1",
                        "site_inside_address": f"169.254.2{number}.2",
                        "cloud_asn": "64512",
                    }
                    for number, (address, key) in enumerate((TUNNEL_1, TUNNEL_2), 1)
                ]
            ),
        ),
        "device_configuration": known(preview, Secret("<vpn_connection/>")),
    }


def test_a_vpn_with_static_routes(preview: bool) -> None:
    recording = build(preview, customer_asn=None, static_routes=["192.168.0.0/16", "172.20.0.0/16"])
    vpn = known(preview, "line-vpn-id")
    assert recording.one(VPN).inputs["staticRoutesOnly"] is True
    assert recording.one(CUSTOMER).inputs["bgpAsn"] == "65000"
    assert recording.inputs(STATIC) == {
        "line-to-192.168.0.0-16": {"vpnConnectionId": vpn, "destinationCidrBlock": "192.168.0.0/16"},
        "line-to-172.20.0.0-16": {"vpnConnectionId": vpn, "destinationCidrBlock": "172.20.0.0/16"},
    }


def test_a_large_number_goes_into_the_field_for_large_ones(preview: bool) -> None:
    made = build(preview, customer_asn=4200000001).one(CUSTOMER).inputs
    assert (made.get("bgpAsn"), made["bgpAsnExtended"]) == (None, "4200000001")


def test_what_exists_is_taken(preview: bool) -> None:
    changes = {**dict.fromkeys(OF_VPN), "customer_gateway_id": "cgw-1", "vpn_gateway_id": "vgw-1"}
    recording = build(preview, **changes)
    assert recording.of(GATEWAY) == recording.of(CUSTOMER) == []
    made = recording.one(VPN).inputs
    assert (made["vpnGatewayId"], made["customerGatewayId"]) == ("vgw-1", "cgw-1")
    assert recording.outputs["line"]["gateway_id"] == "vgw-1"


def test_a_direct_connect(preview: bool) -> None:
    recording = build(preview, **direct(gbps=10))
    assert {each.type for each in recording.resources if each.custom} == {GATEWAY, PROPAGATION, DIRECT}
    assert recording.inputs(DIRECT) == {
        "line-direct-connect": {
            "dxGatewayId": DX,
            "associatedGatewayId": known(preview, "line-gateway-id"),
            "allowedPrefixes": ["10.0.0.0/16"],
        }
    }
    assert recording.outputs["line"] == {
        "gateway_id": known(preview, "line-gateway-id"),
        "tunnel_addresses": [],
        "pre_shared_keys": Secret([]),
        "tunnels": Secret([]),
    }


def test_what_is_announced_can_be_said(preview: bool) -> None:
    recording = build(preview, **direct(announced_cidrs=["10.0.0.0/17", "10.0.128.0/17"]))
    assert recording.one(DIRECT).inputs["allowedPrefixes"] == ["10.0.0.0/17", "10.0.128.0/17"]


def test_a_gateway_that_is_replaced_takes_its_connection_along(preview: bool) -> None:
    recording = build(preview)
    assert recording.one(GATEWAY).delete_before_replace is True
    assert recording.one(VPN).replace_on_changes == ("vpnGatewayId",)


def test_the_connection_goes_before_what_holds_it(preview: bool) -> None:
    needs = build(preview).one(VPN).property_dependencies
    assert needs == {"vpnGatewayId": {"line-gateway"}, "customerGatewayId": {"line-customer"}}


ASN_FIX = "use one that is private to you, 64512 to 65534, for instance 65010"
REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "ranges that overlap": (
        {"site_cidrs": ["10.0.4.0/24"]},
        [
            "site_cidrs=10.0.4.0/24: overlaps 10.0.0.0/16, which is the VPC's, so that packets to it never reach the "
            "line; give one of the two networks another range [any-link-overlap]"
        ],
    ),
    "BGP and static routes": (
        {"static_routes": ["192.168.0.0/16", "172.20.0.0/16"]},
        [
            "static_routes=given: are static routes, and customer_asn says BGP; remove static_routes, or customer_asn "
            "[any-link-routing]"
        ],
    ),
    "both kinds": (
        {"direct_connect_gateway_id": DX},
        [
            "direct_connect_gateway_id=given: belongs to kind=direct-connect, and this line is kind=vpn; remove it, or "
            "use direct-connect [any-link-of-kind]"
        ],
    ),
    "a private address, the cloud's own number and a route that misses": (
        {"customer_address": "192.168.10.1", "customer_asn": 64512, "site_cidrs": ["192.168.10.1/24"]},
        [
            "site_cidrs=192.168.10.1/24: does not begin where its prefix says; use 192.168.10.0/24 [any-link-range]",
            "customer_address=192.168.10.1: is not reachable from the internet; use the public address of the VPN "
            "device, or of the NAT that it is behind [any-link-public-address]",
            f"customer_asn=64512: is the number of the cloud's end, too; {ASN_FIX} [any-link-asn]",
        ],
    ),
    "nothing at the other end": (
        dict.fromkeys(OF_VPN),
        [
            "customer_address=null: is not given, and kind=vpn needs the public address of the own VPN device; give "
            "customer_address [any-link-needs]",
            "customer_asn=null: is not given, nor are static_routes: no route to the other end would exist; give "
            "customer_asn for BGP, or static_routes [any-link-routing]",
        ],
    ),
    "a connection's id for the gateway's": (
        direct(direct_connect_gateway_id="dxcon-ffabc123"),
        [
            "direct_connect_gateway_id=dxcon-ffabc123: is not the id of a Direct Connect gateway; use one such as "
            "1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4: aws directconnect describe-direct-connect-gateways "
            "[aws-link-direct-connect-gateway]"
        ],
    ),
    "another kind": (
        {"kind": "wireguard"},
        ["kind=wireguard: is not an allowed value; use vpn or direct-connect [any-argument-word]"],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    assert refusal(lambda: SiteLink("line", arguments(**changes)), preview) == [f"line: {line}" for line in lines]
