"""Network: exact inputs of every child, the order of the subnets, and networks that exist."""

from typing import cast

import pulumi
import pytest

from gpufleet.azure.network import Network, NetworkArgs
from gpufleet.rules.azure.nsg import JOB_PORT, MOUNT_PORTS, port_open
from tests.components.azure_place import GROUP, HERE, PLACE, SUBSCRIPTION, known
from tests.components.recorder import Recording, construct, refusal

COMPONENT = "gpufleet-azure:index:Network"
VNET = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
NSG = "azure-native:network:NetworkSecurityGroup"
ADDRESS = "azure-native:network:PublicIPAddress"
NAT = "azure-native:network:NatGateway"

COMPUTED = {ADDRESS: {"ipAddress": "198.51.100.7"}}
THEIRS = f"{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Network/virtualNetworks/hub"
SUBNETS = {role: f"{THEIRS}/subnets/{role}" for role in ("nodes", "batch", "endpoints")}


def build(preview: bool, /, **changes: object) -> Recording[Network]:
    """A network called net."""
    return construct(lambda: Network("net", cast(NetworkArgs, {**PLACE, **changes})), preview, COMPUTED)


def expected_subnet(preview: bool, role: str, cidr: str, **changes: object) -> dict[str, object]:
    """A subnet with ``changes``; None takes a property away."""
    machines: dict[str, object] = {
        "networkSecurityGroup": {"id": known(preview, f"net-{role}-nsg-id")},
        "natGateway": {"id": known(preview, "net-nat-id")},
        "serviceEndpoints": [{"service": "Microsoft.Storage"}],
    }
    inputs: dict[str, object] = {
        "subnetName": role,
        "resourceGroupName": GROUP,
        "virtualNetworkName": known(preview, "net-vnet"),
        "addressPrefix": cidr,
        "defaultOutboundAccess": False,
        **SUBNET_DEFAULTS,
        **({} if role == "endpoints" else machines),
    }
    return {key: value for key, value in {**inputs, **changes}.items() if value is not None}


SUBNET_DEFAULTS = {"privateEndpointNetworkPolicies": "Disabled", "privateLinkServiceNetworkPolicies": "Enabled"}
"""What the SDK adds to every subnet."""
VNET_DEFAULTS = {"enableDdosProtection": False, "enableVmProtection": False}
"""What it adds to every network."""


def test_a_network_by_default(preview: bool) -> None:
    recording = build(preview)
    addresses = {"addressSpace": {"addressPrefixes": ["10.60.0.0/16"]}}
    assert recording.inputs(VNET) == {"net-vnet": {**HERE, **addresses, **VNET_DEFAULTS}}
    assert recording.inputs(SUBNET) == {
        "net-nodes": expected_subnet(preview, "nodes", "10.60.0.0/18"),
        "net-batch": expected_subnet(preview, "batch", "10.60.64.0/18"),
        "net-endpoints": expected_subnet(preview, "endpoints", "10.60.128.0/20"),
    }
    assert recording.inputs(ADDRESS) == {
        "net-nat-address": {**HERE, "sku": {"name": "Standard"}, "publicIPAllocationMethod": "Static"}
    }
    assert recording.inputs(NAT) == {
        "net-nat": {
            **HERE,
            "sku": {"name": "Standard"},
            "publicIpAddresses": [{"id": known(preview, "net-nat-address-id")}],
        }
    }
    assert {each.type for each in recording.resources} == {COMPONENT, VNET, SUBNET, NSG, ADDRESS, NAT}
    assert recording.outputs["net"] == {
        "vnet_id": known(preview, "net-vnet-id"),
        "subnet_ids": {role: known(preview, f"net-{role}-id") for role in ("nodes", "batch", "endpoints")},
        "outbound_addresses": known(preview, ["198.51.100.7"]),
    }


def test_nobody_outside_reaches_a_node_and_neighbours_do(preview: bool) -> None:
    groups = build(preview).inputs(NSG)
    deny = {
        "name": "nobody-from-the-internet",
        "description": "No ssh and nothing else from outside",
        "priority": 4000,
        "direction": "Inbound",
        "access": "Deny",
        "protocol": "*",
        "sourceAddressPrefix": "Internet",
        "sourcePortRange": "*",
        "destinationAddressPrefix": "*",
        "destinationPortRange": "*",
    }
    assert groups == {f"net-{role}-nsg": {**HERE, "securityRules": [deny]} for role in ("nodes", "batch")}
    assert port_open([deny], "Inbound", JOB_PORT) is True
    assert all(port_open([deny], "Outbound", port) for port in MOUNT_PORTS.values())


def test_subnets_are_made_one_by_one(preview: bool) -> None:
    recording = build(preview)
    waits = {each.name: each.property_dependencies["virtualNetworkName"] for each in recording.of(SUBNET)}
    assert waits == {
        "net-batch": {"net-vnet"},
        "net-nodes": {"net-vnet", "net-batch"},
        "net-endpoints": {"net-vnet", "net-nodes"},
    }


def test_a_way_out_of_ones_own(preview: bool) -> None:
    recording = build(preview, nat="none", cidr="10.8.4.0/22", route_table_id=pulumi.Output.from_input("routes-1"))
    assert recording.names(NAT) == recording.names(ADDRESS) == []
    own: dict[str, object] = {"natGateway": None, "routeTable": {"id": "routes-1"}}
    assert recording.inputs(SUBNET) == {
        "net-nodes": expected_subnet(preview, "nodes", "10.8.4.0/24", **own),
        "net-batch": expected_subnet(preview, "batch", "10.8.5.0/24", **own),
        "net-endpoints": expected_subnet(preview, "endpoints", "10.8.6.0/26"),
    }


def test_an_existing_network_is_left_alone(preview: bool) -> None:
    recording = build(preview, vnet_id=THEIRS, subnet_ids=SUBNETS)
    assert [each for each in recording.resources if each.custom] == []
    assert recording.outputs["net"] == {"vnet_id": THEIRS, "subnet_ids": SUBNETS, "outbound_addresses": []}


def test_ways_out_that_are_not_made_here(preview: bool) -> None:
    theirs = build(preview, vnet_id=THEIRS, subnet_ids=SUBNETS, outbound_addresses=["203.0.113.9"])
    assert theirs.outputs["net"]["outbound_addresses"] == ["203.0.113.9"]
    both = build(preview, outbound_addresses=["203.0.113.9"])
    assert both.outputs["net"]["outbound_addresses"] == known(preview, ["203.0.113.9", "198.51.100.7"])


def test_options_of_children(preview: bool) -> None:
    recording = build(preview)
    for each in recording.resources:
        assert each.name.startswith("net")
        assert each.parent == ("net" if each.custom else "project-stack")
        assert each.depends_on == frozenset(), f"{each.name} waits for more than its inputs"
        assert (each.protect, each.retain_on_delete) == (None, None)
    assert recording.one(COMPONENT).inputs == {}


REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "a private way out": (
        {"outbound_addresses": ["10.0.0.9"]},
        [
            "outbound_addresses=10.0.0.9: is a private range, from which nobody reaches the API server; give the "
            "address that the internet sees, or set private=true [azure-cluster-range]"
        ],
    ),
    "no way out": (
        {"nat": "none"},
        [
            "nat=none: nodes would reach neither their registry nor the service that runs them; use nat=gateway, or "
            "give route_table_id with a route to a firewall or a gateway [azure-network-way-out]"
        ],
    ),
    "half of an existing network": (
        {"vnet_id": THEIRS, "subnet_ids": {"nodes": SUBNETS["nodes"]}, "nat": "gateway"},
        [
            "nat=given: shapes a new network and changes nothing in an existing one; remove it or vnet_id "
            "[azure-network-existing-or-new]",
            "subnet_ids=[nodes]: there is no subnet for batch and endpoints; give the ids of nodes, batch and "
            "endpoints; two may be the same [azure-network-existing-subnets]",
        ],
    ),
    "several faults at once": (
        {"cidr": "10.60.0.0/25", "nat": "gatway", "region": "East US"},
        [
            "region=East US: is not an Azure region; did you mean eastus? [azure-region-form]",
            "cidr=10.60.0.0/25: is not a range of /8 to /24; use one such as 10.60.0.0/16 [azure-network-cidr]",
            "nat=gatway: is not an allowed value; did you mean gateway? (use gateway or none) [any-argument-word]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case: str, preview: bool) -> None:
    changes, lines = REFUSED[case]
    args = cast(NetworkArgs, {**PLACE, **changes})
    assert refusal(lambda: Network("net", args), preview) == [f"net: {line}" for line in lines]
