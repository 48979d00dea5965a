"""What a plan makes of which an account may hold only so many."""

from dataclasses import replace
from typing import Any

import pytest

from gpufleet.plan.aws.network_quota_demand import NetworkQuotaDemand, network_quota_demand
from gpufleet.plan.resource import Plan
from tests.policies.raw_program import plan_from

EIP, VPC = "aws:ec2/eip:Eip", "aws:ec2/vpc:Vpc"
GATEWAY, NAT = "aws:ec2/internetGateway:InternetGateway", "aws:ec2/natGateway:NatGateway"
SUBNET = "aws:ec2/subnet:Subnet"
NETWORK: dict[str, dict[str, Any]] = {
    "vpc": {"type": VPC, "inputs": {"cidrBlock": "10.0.0.0/16"}},
    "gateway": {"type": GATEWAY, "inputs": {"vpcId": "${vpc.id}"}},
    "a": {"type": SUBNET, "inputs": {"vpcId": "${vpc.id}", "availabilityZoneId": "use1-az1"}},
    "b": {"type": SUBNET, "inputs": {"vpcId": "${vpc.id}", "availabilityZone": "us-east-1b"}},
    "address-a": {"type": EIP, "inputs": {"domain": "vpc"}},
    "address-b": {"type": EIP, "inputs": {"domain": "vpc"}},
    "nat-a": {"type": NAT, "inputs": {"subnetId": "${a.id}", "allocationId": "${address-a.id}"}},
    "nat-b": {"type": NAT, "inputs": {"subnetId": "${b.id}", "allocationId": "${address-b.id}"}},
}


def having(plan: Plan, **operations: str) -> Plan:
    """The plan with other operations of some resources, by name with _ for -."""
    return Plan(
        plan.stack,
        [replace(each, operation=operations.get(each.name.replace("-", "_"), "create")) for each in plan.resources],
    )


def test_a_network_from_nothing() -> None:
    found = network_quota_demand(plan_from(NETWORK), {"use1-az2": "us-east-1b"})
    assert found.unclear == ()
    assert found.needs == (
        NetworkQuotaDemand("elastic_ips", "us-east-1", "", 2, 0),
        NetworkQuotaDemand("vpcs", "us-east-1", "", 1, 0),
        NetworkQuotaDemand("internet_gateways", "us-east-1", "", 1, 0),
        NetworkQuotaDemand("nat_gateways", "us-east-1", "use1-az1", 1, 0),
        NetworkQuotaDemand("nat_gateways", "us-east-1", "use1-az2", 1, 0),
    )


def test_a_zone_whose_id_nobody_told_is_its_name() -> None:
    zones = [each.zone for each in network_quota_demand(plan_from(NETWORK), {}).needs if each.counted == "nat_gateways"]
    assert zones == ["use1-az1", "us-east-1b"]


@pytest.mark.parametrize(
    ("operation", "new", "existing"),
    [
        ("create", 2, 0),
        ("same", 1, 1),
        ("update", 1, 1),
        ("import", 1, 1),
        # Deleted before its successor is made.
        ("replace", 1, 1),
        # Made beside what it replaces.
        ("create-replacement", 2, 1),
        # Somebody else's.
        ("read", 1, 0),
    ],
)
def test_what_is_new_and_what_stands(operation: str, new: int, existing: int) -> None:
    plan = having(plan_from(NETWORK), address_a=operation)
    assert network_quota_demand(plan, {}).needs[0] == NetworkQuotaDemand("elastic_ips", "us-east-1", "", new, existing)


def test_what_stands_alone_needs_nothing() -> None:
    plan = having(plan_from({"vpc": NETWORK["vpc"]}), vpc="same")
    assert network_quota_demand(plan, {}).needs == ()


def test_what_is_not_known_at_preview_is_told_of_what_is_new() -> None:
    theirs = {"nat": {"type": NAT, "inputs": {"subnetId": "subnet-1"}}}
    assert network_quota_demand(plan_from(theirs), {}).unclear == ("nat: the zone is not known at preview",)
    assert network_quota_demand(plan_from({"vpc": NETWORK["vpc"]}, None), {}).unclear == (
        "vpc: the region is not known at preview",
    )
    assert network_quota_demand(having(plan_from(theirs), nat="same"), {}).unclear == ()


def test_a_gateway_that_waited_for_another_subnet_is_in_one_of_them() -> None:
    either = NETWORK | {"nat-a": {"type": NAT, "inputs": {"subnetId": ["${a.id}", "${b.id}"]}}}
    assert network_quota_demand(plan_from(either), {}).unclear == ("nat-a: the zone is not known at preview",)
