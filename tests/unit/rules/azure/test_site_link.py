"""Cases of gpufleet.rules.azure.site_link."""

from gpufleet.rules.azure.site_link import bgp_address, circuit_legal, key_strong, sku_legal, subnet_fits, subnet_named

NETWORK = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v"

CASES = {
    sku_legal: [
        ("smallest", {"sku": "VpnGw1AZ", "kind": "vpn"}, "pass", ""),
        ("largest", {"sku": "ErGw3AZ", "kind": "express-route"}, "pass", ""),
        (
            "retired",
            {"sku": "VpnGw5", "kind": "vpn"},
            "fail",
            (
                "trainers: sku=VpnGw5: is an old size, which is retired or on its way there; use VpnGw1AZ, VpnGw2AZ, "
                "VpnGw3AZ, VpnGw4AZ or VpnGw5AZ [azure-link-sku]"
            ),
        ),
        (
            "basic",
            {"sku": "Basic", "kind": "vpn"},
            "fail",
            (
                "trainers: sku=Basic: is an old size, which is retired or on its way there; use VpnGw1AZ, VpnGw2AZ, "
                "VpnGw3AZ, VpnGw4AZ or VpnGw5AZ [azure-link-sku]"
            ),
        ),
        (
            "of-the-other-kind",
            {"sku": "ErGw1AZ", "kind": "vpn"},
            "fail",
            (
                "trainers: sku=ErGw1AZ: is not a gateway size for vpn; use VpnGw1AZ, VpnGw2AZ, VpnGw3AZ, VpnGw4AZ "
                "or VpnGw5AZ [azure-link-sku]"
            ),
        ),
        (
            "misspelt",
            {"sku": "VpnGw2Az", "kind": "vpn"},
            "fail",
            (
                "trainers: sku=VpnGw2Az: is not a gateway size for vpn; use VpnGw1AZ, VpnGw2AZ, VpnGw3AZ, VpnGw4AZ "
                "or VpnGw5AZ [azure-link-sku]"
            ),
        ),
        (
            "standard",
            {"sku": "Standard", "kind": "express-route"},
            "fail",
            (
                "trainers: sku=Standard: is an old size, which is retired or on its way there; use ErGw1AZ, ErGw2AZ "
                "or ErGw3AZ [azure-link-sku]"
            ),
        ),
    ],
    subnet_fits: [
        ("smallest", {"cidr": "10.60.255.224/27", "vnet": "10.60.0.0/16"}, "pass", ""),
        ("larger", {"cidr": "10.60.255.0/24", "vnet": "10.60.0.0/16"}, "pass", ""),
        (
            "too-small",
            {"cidr": "10.60.255.240/28", "vnet": "10.60.0.0/16"},
            "fail",
            (
                "trainers: gateway_subnet_cidr=10.60.255.240/28: is too small for a gateway that may grow; use a /27 "
                "or larger [azure-link-subnet]"
            ),
        ),
        (
            "outside",
            {"cidr": "10.61.0.0/27", "vnet": "10.60.0.0/16"},
            "fail",
            (
                "trainers: gateway_subnet_cidr=10.61.0.0/27: lies outside the network's 10.60.0.0/16; use a part of "
                "10.60.0.0/16 [azure-link-subnet]"
            ),
        ),
        (
            "no-range",
            {"cidr": "10.60.0.1/27", "vnet": "10.60.0.0/16"},
            "fail",
            (
                "trainers: gateway_subnet_cidr=10.60.0.1/27: is not an IPv4 range; use a /27 of the network "
                "[azure-link-subnet]"
            ),
        ),
    ],
    subnet_named: [
        (
            "named",
            {"subnet_id": f"{NETWORK}/subnets/GatewaySubnet"},
            "pass",
            "",
        ),
        (
            "another",
            {"subnet_id": f"{NETWORK}/subnets/nodes"},
            "fail",
            (
                "trainers: "
                "gateway_subnet_id=/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes:"
                " is not a gateway subnet; use one that is called GatewaySubnet [azure-link-gateway-subnet]"
            ),
        ),
    ],
    circuit_legal: [
        (
            "id",
            {"id_": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/expressRouteCircuits/lab"},
            "pass",
            "",
        ),
        (
            "a-name",
            {"id_": "lab"},
            "fail",
            (
                "trainers: circuit_id=lab: is not the id of a circuit; use one such as "
                "/subscriptions/.../resourceGroups/.../providers/Microsoft.Network/expressRouteCircuits/NAME "
                "[azure-link-circuit]"
            ),
        ),
    ],
    bgp_address: [
        ("own", {"address": "192.168.10.1"}, "pass", ""),
        (
            "apipa",
            {"address": "169.254.21.1"},
            "fail",
            (
                "trainers: customer_bgp_address=169.254.21.1: is an APIPA address, which needs one of Azure's own "
                "beside it; use the device's own, such as 192.168.0.1 [azure-link-bgp-address]"
            ),
        ),
        (
            "a-name",
            {"address": "router"},
            "fail",
            (
                "trainers: customer_bgp_address=router: is not an IPv4 address; use the device's own, such as "
                "192.168.0.1"
                " [azure-link-bgp-address]"
            ),
        ),
    ],
    key_strong: [
        ("long", {"length": 16, "legal": True}, "pass", ""),
        (
            "short",
            {"length": 15, "legal": False},
            "fail",
            (
                "trainers: pre_shared_key=hidden: has 15 characters, or some that Azure does not take; use 16 to 128 "
                "letters, digits and signs, without spaces [azure-link-key]"
            ),
        ),
    ],
}


def test_case(case):
    case.check()
