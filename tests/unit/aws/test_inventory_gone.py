"""What is listed still, and gone or somebody's own, is no orphan."""

import pytest

from tests.unit.aws.inventory_rows import ENTRY, KEY, TAGS, arn, look, present, tagged


def instance(state, *more):
    return [{"Instances": [{"InstanceId": "i-0a1b", "State": {"Name": state}, "Tags": [*TAGS, *more]}]}]


GROUP = {"Key": "aws:autoscaling:groupName", "Value": "eks-train"}
GONE = [
    ("vpc/vpc-0a1b", "DescribeTags", "Tags", []),
    ("natgateway/nat-0a1b", "DescribeNatGateways", "NatGateways", [{"NatGatewayId": "nat-0a1b", "State": "deleted"}]),
    ("natgateway/nat-0a1b", "DescribeNatGateways", "NatGateways", [{"NatGatewayId": "nat-0a1b", "State": "failed"}]),
    (
        "vpc-endpoint/vpce-0a1b",
        "DescribeVpcEndpoints",
        "VpcEndpoints",
        [{"VpcEndpointId": "vpce-0a1b", "State": "deleted"}],
    ),
    ("security-group-rule/sgr-0in", "DescribeSecurityGroupRules", "SecurityGroupRules", []),
    (
        "placement-group/dev-train",
        "DescribePlacementGroups",
        "PlacementGroups",
        [{"GroupName": "dev-train", "State": "deleted"}],
    ),
    (
        "capacity-reservation/cr-0a1b",
        "DescribeCapacityReservations",
        "CapacityReservations",
        [{"CapacityReservationId": "cr-0a1b", "State": "cancelled"}],
    ),
    ("instance/i-0a1b", "DescribeInstances", "Reservations", instance("terminated")),
    ("instance/i-0a1b", "DescribeInstances", "Reservations", instance("running", GROUP)),
    ("volume/vol-0a1b", "DescribeVolumes", "Volumes", []),
    ("vpn-gateway/vgw-0a1b", "DescribeVpnGateways", "VpnGateways", [{"VpnGatewayId": "vgw-0a1b", "State": "deleted"}]),
    (
        "customer-gateway/cgw-0a1b",
        "DescribeCustomerGateways",
        "CustomerGateways",
        [{"CustomerGatewayId": "cgw-0a1b", "State": "deleted"}],
    ),
    (
        "vpn-connection/vpn-0a1b",
        "DescribeVpnConnections",
        "VpnConnections",
        [{"VpnConnectionId": "vpn-0a1b", "State": "deleting"}],
    ),
    ("network-interface/eni-0a1b", "DescribeNetworkInterfaces", "NetworkInterfaces", []),
]


@pytest.mark.parametrize(("resource", "operation", "key", "answer"), GONE)
def test_what_is_gone_or_goes_with_its_owner_is_no_orphan(aws, resource, operation, key, answer):
    present(aws)
    aws.answers[operation] = {key: answer}
    aws.answers["GetResources"] = tagged(arn("ec2", resource))
    assert look() == []


@pytest.mark.parametrize(
    "answer", [{"KeyMetadata": {"KeyId": KEY, "KeyState": "PendingDeletion"}}, "NotFoundException"]
)
def test_a_key_to_be_deleted_is_no_orphan(aws, answer):
    aws.answers |= {"GetResources": tagged(arn("kms", f"key/{KEY}")), "DescribeKey": answer}
    assert look() == []


def test_an_access_entry_that_is_gone_is_no_orphan(aws):
    aws.answers |= {"GetResources": tagged(ENTRY), "ListAccessEntries": "ResourceNotFoundException"}
    assert look() == []
