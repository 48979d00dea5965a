"""What has no tags of its own and is found by what it ties: routes, associations, mount targets, lines."""

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from tests.unit.aws.inventory_rows import OWNER, TAGS, arn, look, present, tagged


def route_table(**content):
    return {"RouteTables": [{"RouteTableId": "rtb-1", "Tags": TAGS, "Routes": [], "Associations": [], **content}]}


@pytest.mark.parametrize(
    ("route", "import_id", "inputs"),
    [
        (
            {"DestinationCidrBlock": "0.0.0.0/0", "NatGatewayId": "nat-1"},
            "rtb-1_0.0.0.0/0",
            {"destinationCidrBlock": "0.0.0.0/0"},
        ),
        (
            {"DestinationIpv6CidrBlock": "::/0", "GatewayId": "igw-1"},
            "rtb-1_::/0",
            {"destinationIpv6CidrBlock": "::/0"},
        ),
        (
            {"DestinationPrefixListId": "pl-1", "TransitGatewayId": "tgw-1"},
            "rtb-1_pl-1",
            {"destinationPrefixListId": "pl-1"},
        ),
    ],
)
def test_routes_are_known_by_table_and_destination(aws, route, import_id, inputs):
    aws.answers["DescribeRouteTables"] = route_table(Routes=[{**route, "Origin": "CreateRoute"}])
    inputs = {"routeTableId": "rtb-1", **inputs}
    assert look() == [CloudResource("aws:ec2/route:Route", import_id, None, inputs=inputs, tags=OWNER)]


def test_routes_and_associations_that_aws_makes_are_its_own(aws):
    aws.answers["DescribeRouteTables"] = route_table(
        Routes=[
            {"DestinationCidrBlock": "10.0.0.0/16", "GatewayId": "local", "Origin": "CreateRouteTable"},
            {"DestinationPrefixListId": "pl-1", "GatewayId": "vpce-1", "Origin": "CreateRoute"},
            {"DestinationCidrBlock": "10.1.0.0/16", "GatewayId": "vgw-1", "Origin": "EnableVgwRoutePropagation"},
        ],
        Associations=[{"Main": True, "RouteTableAssociationId": "rtbassoc-1"}],
    )
    assert look() == []


@pytest.mark.parametrize("end", ["subnet", "gateway"])
def test_associations_are_known_by_both_ends(aws, end):
    tie = {"Main": False, "RouteTableAssociationId": "rtbassoc-1", f"{end.capitalize()}Id": f"{end}-1"}
    aws.answers["DescribeRouteTables"] = route_table(Associations=[tie])
    inputs = {"routeTableId": "rtb-1", f"{end}Id": f"{end}-1"}
    type_ = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    assert look() == [CloudResource(type_, f"{end}-1/rtb-1", None, "rtbassoc-1", inputs, tags=OWNER)]


@pytest.mark.parametrize(("guard", "seen"), [("sg-0a1b2c3d", True), ("sg-9f8e7d6c", False)])
def test_on_the_file_system_of_others_only_our_mount_targets_are_ours(aws, guard, seen):
    ours = [arn("elasticfilesystem", "access-point/fsap-1"), arn("ec2", "security-group/sg-0a1b2c3d")]
    target = {"MountTargetId": "fsmt-0a1b2c3d", "SubnetId": "subnet-0a1b2c3d"}
    aws.answers |= {
        "GetResources": tagged(*ours),
        "DescribeTags": {"Tags": [{"ResourceId": "sg-0a1b2c3d"}]},
        "DescribeAccessPoints": {"AccessPoints": [{"FileSystemId": "fs-shared"}]},
        "DescribeMountTargets": {"MountTargets": [target]},
        "DescribeMountTargetSecurityGroups": {"SecurityGroups": [guard]},
    }
    found = [each.import_id for each in look() if each.type == "aws:efs/mountTarget:MountTarget"]
    assert found == (["fsmt-0a1b2c3d"] if seen else [])


@pytest.mark.parametrize("state", ["associated", "disassociating"])
def test_a_line_is_known_by_both_of_its_gateways_while_it_lasts(aws, state):
    present(aws)
    dx = "1b4d5f7a-0c3e-4c8a-9f27-5ad0b1c2d3e4"
    tie = {"directConnectGatewayId": dx, "associationState": state}
    aws.answers |= {
        "GetResources": tagged(arn("ec2", "vpn-gateway/vgw-0a1b")),
        "DescribeDirectConnectGatewayAssociations": {"directConnectGatewayAssociations": [tie]},
    }
    found = [each for each in look() if each.type == "aws:directconnect/gatewayAssociation:GatewayAssociation"]
    assert [(each.import_id, each.inputs) for each in found] == (
        [(f"{dx}/vgw-0a1b", {"dxGatewayId": dx, "associatedGatewayId": "vgw-0a1b"})] if state == "associated" else []
    )
    assert ("DescribeDirectConnectGatewayAssociations", {"associatedGatewayId": "vgw-0a1b"}) in aws.asked


def test_what_hangs_on_a_tagged_thing_has_its_tags(aws):
    """They say whose it is; of what it hangs on, the file system comes before the security group."""
    present(aws)
    theirs = [*TAGS, {"Key": "owner", "Value": "others"}]
    role = {"RoleName": "r", "Arn": arn("iam", "role/r"), "Path": "/", "RoleId": "AROA00000000000000", "CreateDate": 0}
    aws.answers |= {
        "GetResources": tagged(arn("elasticfilesystem", "file-system/fs-0a1b"), tags=theirs),
        "DescribeMountTargets": {"MountTargets": [{"MountTargetId": "fsmt-0a1b2c3d", "SubnetId": "subnet-0a1b2c3d"}]},
        "ListRoles": {"Roles": [role]},
        "ListRoleTags": {"Tags": theirs},
        "ListRolePolicies": {"PolicyNames": ["write-0a1b2c3"]},
        "ListInstanceProfilesForRole": {"InstanceProfiles": []},
    }
    found = {each.type: each for each in look() if each.name is None}
    policy, target = found["aws:iam/rolePolicy:RolePolicy"], found["aws:efs/mountTarget:MountTarget"]
    assert (policy.inputs, policy.own) == ({"role": "r", "name": "write-0a1b2c3"}, "name")
    assert [each.ownership.owner for each in (policy, target)] == ["others", "others"]
