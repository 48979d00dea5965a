"""Limits that a pack sees in plain resources: lifecycle rules, rules of security groups, Fargate's and AKS' subnets."""

import json
from typing import Any

import pytest

from gpufleet.policies.feasibility import validate_feasibility
from gpufleet.rules import Status
from tests.policies.raw_program import plan_from


def failures(program: dict[str, Any], rule: str) -> list[str]:
    found = validate_feasibility(plan_from(program), {})
    return [each.resource for each in found if each.finding.rule == rule and each.finding.status is Status.FAIL]


def lifecycle(*rules: tuple[int, str]) -> dict[str, Any]:
    listed = [{"rulePriority": priority, "selection": {"tagStatus": status}} for priority, status in rules]
    policy = json.dumps({"rules": listed})
    return {"rules": {"type": "aws:ecr/lifecyclePolicy:LifecyclePolicy", "inputs": {"policy": policy}}}


@pytest.mark.parametrize(
    ("program", "names"),
    [
        (lifecycle((1, "untagged"), (2, "any")), []),
        (lifecycle((2, "any"), (1, "untagged")), []),
        (lifecycle((1, "any"), (2, "untagged")), ["rules"]),
        (lifecycle((1, "tagged"), (2, "untagged")), []),
        ({"rules": {"type": "aws:ecr/lifecyclePolicy:LifecyclePolicy", "inputs": {"policy": "{"}}}, []),
    ],
)
def test_the_rule_for_images_of_any_tag_is_the_last(program: dict[str, Any], names: list[str]) -> None:
    assert failures(program, "aws-registry-any-rule-last") == names


GROUP = {"type": "aws:ec2/securityGroup:SecurityGroup", "inputs": {}}


def ranges(number: int) -> list[str]:
    return [f"10.0.{part}.0/24" for part in range(number)]


def apart(number: int, **more: object) -> dict[str, Any]:
    inputs = {"securityGroupId": "${group.id}", "ipProtocol": "tcp", "fromPort": 22, "toPort": 22}
    kind = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
    return {
        f"from-{part}": {"type": kind, "inputs": {**inputs, **(more or {"cidrIpv4": cidr})}}
        for part, cidr in enumerate(ranges(number))
    }


def inline(number: int) -> dict[str, Any]:
    block = {"protocol": "tcp", "fromPort": 22, "toPort": 22, "cidrBlocks": ranges(number)}
    return {"group": {**GROUP, "inputs": {"ingress": [block]}}}


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ({"group": GROUP, **apart(60)}, []),
        ({"group": GROUP, **apart(61)}, ["group"]),
        ({"group": GROUP, **apart(61, cidrIpv6="::/0")}, []),
        (inline(60), []),
        (inline(61), ["group"]),
        ({**inline(30), **apart(31)}, ["group"]),
    ],
)
def test_a_security_group_has_no_more_rules_than_the_quota(program: dict[str, Any], names: list[str]) -> None:
    assert failures(program, "aws-security-group-rule-count") == names


VPC = {
    "vpc": {"type": "aws:ec2/vpc:Vpc", "inputs": {"cidrBlock": "10.0.0.0/16"}},
    "gateway": {"type": "aws:ec2/internetGateway:InternetGateway", "inputs": {"vpcId": "${vpc.id}"}},
    "address": {"type": "aws:ec2/eip:Eip", "inputs": {"domain": "vpc"}},
    "nat": {
        "type": "aws:ec2/natGateway:NatGateway",
        "inputs": {"subnetId": "${public.id}", "allocationId": "${address.id}"},
    },
}
TARGETS = {"public": {"gatewayId": "${gateway.id}"}, "private": {"natGatewayId": "${nat.id}"}}


def with_profile(*subnets: str) -> dict[str, Any]:
    program = dict(VPC)
    for number, (name, target) in enumerate(TARGETS.items()):
        program |= {
            name: {
                "type": "aws:ec2/subnet:Subnet",
                "inputs": {"vpcId": "${vpc.id}", "cidrBlock": f"10.0.{number}.0/24", "availabilityZone": "us-east-1a"},
            },
            f"{name}-table": {"type": "aws:ec2/routeTable:RouteTable", "inputs": {"vpcId": "${vpc.id}"}},
            f"{name}-route": {
                "type": "aws:ec2/route:Route",
                "inputs": {"routeTableId": f"${{{name}-table.id}}", "destinationCidrBlock": "0.0.0.0/0", **target},
            },
            f"{name}-in-table": {
                "type": "aws:ec2/routeTableAssociation:RouteTableAssociation",
                "inputs": {"routeTableId": f"${{{name}-table.id}}", "subnetId": f"${{{name}.id}}"},
            },
        }
    listed = [f"${{{name}.id}}" for name in subnets]
    return {**program, "jobs": {"type": "aws:eks/fargateProfile:FargateProfile", "inputs": {"subnetIds": listed}}}


@pytest.mark.parametrize(
    ("subnets", "names"), [(["private"], []), (["public"], ["jobs"]), (["private", "public"], ["jobs"])]
)
def test_fargate_has_private_subnets(subnets: list[str], names: list[str]) -> None:
    assert failures(with_profile(*subnets), "aws-fargate-subnet-private") == names


def aks(most: int, network: dict[str, str], second: int | None = None, **pool: object) -> dict[str, Any]:
    """A cluster of one system node and a pool in a subnet of 251 addresses; `second`: another pool's largest size."""
    inputs = {"resourceName": "${cluster.name}", "vnetSubnetID": "${small.id}", "minCount": 0, "count": 0, **pool}
    profile = {"name": "system", "count": 1, "maxPods": 30, "vnetSubnetID": "${small.id}"}
    sizes = {"pool": most} | ({} if second is None else {"second": second})
    return {
        "small": {"type": "azure-native:network:Subnet", "inputs": {"addressPrefix": "10.1.0.0/24"}},
        "cluster": {
            "type": "azure-native:containerservice:ManagedCluster",
            "inputs": {"agentPoolProfiles": [profile], "networkProfile": network},
        },
        **{
            name: {"type": "azure-native:containerservice:AgentPool", "inputs": {**inputs, "maxCount": size}}
            for name, size in sizes.items()
        },
    }


CNI, OVERLAY = {"networkPlugin": "azure"}, {"networkPlugin": "azure", "networkPluginMode": "overlay"}


@pytest.mark.parametrize(
    ("program", "names"),
    [
        # 31 addresses are the system node's and its pods'.
        (aks(7, CNI), []),
        (aks(8, CNI), ["small"]),
        (aks(4, CNI, second=4), ["small"]),
        (aks(8, CNI, maxPods=20), []),
        (aks(8, CNI, podSubnetID="pods"), []),
        (aks(220, OVERLAY), []),
        (aks(251, OVERLAY), ["small"]),
    ],
)
def test_a_subnet_of_aks_has_an_address_for_each_node_and_pod(program: dict[str, Any], names: list[str]) -> None:
    assert failures(program, "azure-subnet-size") == names
