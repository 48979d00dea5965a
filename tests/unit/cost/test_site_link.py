"""What lines to own servers and syncs cost: each price with its source, and none taken for zero."""

import pytest

from gpufleet.cost.estimate import estimate
from gpufleet.cost.line_item import FIGURES, LineItem
from gpufleet.cost.usage_assumptions import UsageAssumptions
from tests.policies.raw_program import plan_from

GROUP = {"type": "azure-native:resources:ResourceGroup", "inputs": {"location": "eastus", "resourceGroupName": "rg"}}
VPN = {"type": "aws:ec2/vpnConnection:VpnConnection", "inputs": {"type": "ipsec.1", "customerGatewayId": "cgw-1"}}
DIRECT = {"type": "aws:directconnect/gatewayAssociation:GatewayAssociation", "inputs": {"dxGatewayId": "gateway"}}
FREE = {
    "gateway": {"type": "aws:ec2/vpnGateway:VpnGateway", "inputs": {}},
    "customer": {"type": "aws:ec2/customerGateway:CustomerGateway", "inputs": {}},
    "nfs": {"type": "aws:datasync/nfsLocation:NfsLocation", "inputs": {}},
}


def task(direction: str) -> dict[str, object]:
    return {"type": "aws:datasync/task:Task", "inputs": {"tags": {"direction": direction}}}


def gateway(kind: str, sku: str) -> dict[str, object]:
    inputs = {"resourceGroupName": "${rg.name}", "gatewayType": kind, "sku": {"name": sku, "tier": sku}}
    return {"type": "azure-native:network:VirtualNetworkGateway", "inputs": inputs}


def lines(
    resources: dict[str, object], region: str | None, usage: UsageAssumptions | None = None
) -> dict[str, LineItem]:
    found = estimate(plan_from(resources, region), usage)
    assert found.not_priced == {}
    return {line.what: line for _, line in found.lines}


def months(line: LineItem) -> list[float | None]:
    found = [line.month(figure) for figure in FIGURES]
    return [None if each is None else round(each, 2) for each in found]


def test_a_vpn_is_paid_by_the_hour_and_for_what_leaves():
    found = lines({"vpn": VPN, **FREE}, "us-east-1", UsageAssumptions(site_gb=200))
    assert {what: months(line) for what, line in found.items()} == {
        "VPN connection": [36.5, 36.5, 36.5],
        "data out to on-prem servers (VPN)": [0.0, 18.0, 18.0],
    }
    assert all(line.price.source and line.price.as_of for line in found.values())


def test_direct_connect_makes_what_leaves_cheaper():
    found = lines({"line": DIRECT}, "us-east-1", UsageAssumptions(site_gb=200))
    assert {what: months(line) for what, line in found.items()} == {
        "data out to on-prem servers (Direct Connect)": [0.0, 4.0, 4.0]
    }


def test_a_sync_is_paid_by_what_it_copies_and_its_way_back_for_what_leaves():
    found = lines(
        {"in": task("to-cloud"), "back": task("to-site")}, "us-east-1", UsageAssumptions(sync_gb=1000, site_gb=100)
    )
    # Two tasks share what is copied.
    assert months(found["data copied by DataSync"]) == [0.0, 12.5, 12.5]
    assert months(found["data out to on-prem servers (DataSync)"]) == [0.0, 9.0, 9.0]
    assert set(lines({"in": task("to-cloud")}, "us-east-1")) == {"data copied by DataSync"}


@pytest.mark.parametrize(
    ("kind", "sku", "what", "usd"),
    [
        ("Vpn", "VpnGw1AZ", "VPN gateway (VpnGw1AZ)", 138.7),
        ("Vpn", "VpnGw3AZ", "VPN gateway (VpnGw3AZ)", 912.5),
        ("ExpressRoute", "ErGw1AZ", "ExpressRoute gateway (ErGw1AZ)", 263.53),
        ("ExpressRoute", "ErGw2AZ", "ExpressRoute gateway (ErGw2AZ)", 461.36),
    ],
)
def test_a_gateway_of_azure_costs_by_its_size(kind, sku, what, usd):
    found = lines({"rg": GROUP, "gateway": gateway(kind, sku)}, None)
    assert months(found[what]) == [usd] * 3
    assert ("data out to on-prem servers (VPN)" in found) is (kind == "Vpn")


@pytest.mark.parametrize("sku", ["VpnGw5AZ", "VpnGw1"])
def test_a_size_without_a_price_is_unknown_and_not_free(sku):
    line = lines({"rg": GROUP, "gateway": gateway("Vpn", sku)}, None)[f"VPN gateway ({sku})"]
    assert months(line) == [None, None, None]
    assert line.unknown
    assert line.reason.startswith("no price of ")


def test_other_regions_have_a_price_too():
    assert months(lines({"vpn": VPN}, "eu-central-1")["VPN connection"]) == [36.5, 36.5, 36.5]
