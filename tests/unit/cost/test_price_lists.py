"""Figures of estimates worked out by hand from rows of the clouds' public price lists.

The lists themselves are out of reach of a test. The rows are as public repositories keep them that read the lists; each
names where it is from, and none of them is where the catalog's record of the same thing is from.
"""

import pytest

from gpufleet.cost.estimate import estimate
from tests.policies.raw_program import plan_from

G5 = {
    # Hour of g5.8xlarge, us-east-1: github.com/aws/karpenter-provider-aws, generated from AWS's price list:
    # pkg/providers/pricing/zz_generated.pricing_aws.go at 265ee0ba5b8e337dec6b82dde965b03021ccb418.
    "row": '"g5.8xlarge": 2.448000',
    "usd": 2.448,
}
NAT = {
    # Product M2YSHUBETB3JX4M4 of AmazonEC2, usagetype NatGateway-Hours, us-east-1, as a public test of an AWS price
    # client keeps the answer of GetProducts: term JRTCKXETXF, "$0.045 per NAT Gateway hour".
    "row": {"unit": "Hrs", "pricePerUnit": {"USD": "0.0450000000"}},
    "usd": 0.045,
}
NC24 = {
    # An item of https://prices.azure.com/api/retail/prices, as a public test of an Azure price client keeps it.
    "row": {
        "armSkuName": "Standard_NC24ads_A100_v4",
        "armRegionName": "eastus",
        "productName": "Virtual Machines NCadsv4 Series",
        "meterName": "NC24ads A100 v4",
        "retailPrice": 3.673,
        "currencyCode": "USD",
    },
    "usd": 3.673,
}
ND96 = {
    # The same list, captured live on 2026-09-16 by another public test.
    "row": {
        "armRegionName": "eastus",
        "armSkuName": "Standard_ND96isr_H100_v5",
        "meterName": "ND96isrH100v5",
        "productName": "Virtual Machines NDsr H100 v5 Series",
        "type": "Consumption",
        "unitOfMeasure": "1 Hour",
        "currencyCode": "USD",
        "retailPrice": 98.32,
    },
    "usd": 98.32,
}


def month(resources: dict[str, object], what: str, region: str | None) -> float | None:
    lines = [line for _, line in estimate(plan_from(resources, region)).lines if line.what == what]
    assert len(lines) == 1
    return lines[0].month("ceiling")


def node_group(type_name: str, most: int) -> dict[str, object]:
    sizes = {"minSize": 0, "desiredSize": 0, "maxSize": most}
    inputs = {"instanceTypes": [type_name], "scalingConfig": sizes, "subnetIds": ["subnet-1"], "diskSize": 50}
    return {"trainers": {"type": "aws:eks/nodeGroup:NodeGroup", "inputs": inputs}}


def agent_pool(size: str, most: int) -> dict[str, object]:
    cluster = {"location": "eastus", "sku": {"tier": "Free"}}
    inputs = {"resourceName": "${aks.name}", "vmSize": size, "enableAutoScaling": True, "minCount": 0, "count": 0}
    return {
        "aks": {"type": "azure-native:containerservice:ManagedCluster", "inputs": cluster},
        "gpu": {"type": "azure-native:containerservice:AgentPool", "inputs": inputs | {"maxCount": most}},
    }


def test_two_g5_for_a_month() -> None:
    assert f'"g5.8xlarge": {G5["usd"]:f}' == G5["row"]
    # 2 x 730 x 2.448
    assert month(node_group("g5.8xlarge", 2), "nodes: g5.8xlarge", "us-east-1") == pytest.approx(3574.08)


def test_a_nat_gateway_for_a_month() -> None:
    assert float(NAT["row"]["pricePerUnit"]["USD"]) == NAT["usd"]
    gateway = {"nat": {"type": "aws:ec2/natGateway:NatGateway", "inputs": {"subnetId": "subnet-1"}}}
    # 730 x 0.045
    assert month(gateway, "NAT gateway", "us-east-1") == pytest.approx(32.85)


def test_four_nc24ads_for_a_month() -> None:
    assert NC24["row"]["retailPrice"] == NC24["usd"]
    # 4 x 730 x 3.673
    found = month(agent_pool("Standard_NC24ads_A100_v4", 4), "nodes: Standard_NC24ads_A100_v4", None)
    assert found == pytest.approx(10725.16)


def test_two_nd96isr_h100_for_a_month() -> None:
    assert ND96["row"]["retailPrice"] == ND96["usd"]
    # 2 x 730 x 98.32
    found = month(agent_pool("Standard_ND96isr_H100_v5", 2), "nodes: Standard_ND96isr_H100_v5", None)
    assert found == pytest.approx(143547.20)
