"""The inventory of an account that moto simulates: a whole environment, beside another one."""

import json

import boto3
import pytest
from moto import mock_aws

from gpufleet.aws.inventory import AwsInventory

REGION = "us-east-1"


def look(environment="dev"):
    return AwsInventory(REGION).holds(environment)


@pytest.fixture
def simulated(credentials):
    """moto's AWS; it forgets everything afterwards."""
    with mock_aws():
        yield


def environment(name, number):
    """Make what moto's Tagging API knows of the AWS stack; return the expected (type, import id, name) of each."""
    tags = {"environment": name, "project": "gpufleet"}

    def pairs(thing):
        return [{"Key": key, "Value": value} for key, value in {**tags, "Name": f"{name}-{thing}"}.items()]

    def spec(kind, thing):
        return [{"ResourceType": kind, "Tags": pairs(thing)}]

    ec2, efs = boto3.client("ec2", REGION), boto3.client("efs", REGION)
    vpc = ec2.create_vpc(CidrBlock=f"10.{number}.0.0/16", TagSpecifications=spec("vpc", "vpc"))["Vpc"]["VpcId"]
    net = f"10.{number}.1.0/24"
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock=net, TagSpecifications=spec("subnet", "subnet"))["Subnet"][
        "SubnetId"
    ]
    internet = ec2.create_internet_gateway(TagSpecifications=spec("internet-gateway", "internet"))
    internet = internet["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(VpcId=vpc, InternetGatewayId=internet)
    nat = ec2.create_nat_gateway(
        SubnetId=subnet, ConnectivityType="private", TagSpecifications=spec("natgateway", "nat")
    )["NatGateway"]["NatGatewayId"]
    rtb = ec2.create_route_table(VpcId=vpc, TagSpecifications=spec("route-table", "routes"))
    rtb = rtb["RouteTable"]["RouteTableId"]
    ec2.create_route(RouteTableId=rtb, DestinationCidrBlock="0.0.0.0/0", GatewayId=internet)
    ec2.associate_route_table(RouteTableId=rtb, SubnetId=subnet)
    group = ec2.create_security_group(
        GroupName=f"{name}-nfs", Description="d", VpcId=vpc, TagSpecifications=spec("security-group", "nfs")
    )["GroupId"]
    system = efs.create_file_system(CreationToken=name, Encrypted=True, Tags=pairs("files"))["FileSystemId"]
    mount = efs.create_mount_target(FileSystemId=system, SubnetId=subnet, SecurityGroups=[group])["MountTargetId"]
    point = efs.create_access_point(ClientToken=name, FileSystemId=system, Tags=pairs("access"))["AccessPointId"]
    kms_tags = [{"TagKey": pair["Key"], "TagValue": pair["Value"]} for pair in pairs("key")]
    key = boto3.client("kms", REGION).create_key(Tags=kms_tags)["KeyMetadata"]["KeyId"]
    log = f"/aws/eks/{name}/cluster"
    boto3.client("logs", REGION).create_log_group(logGroupName=log, tags={**tags, "Name": f"{name}-logs"})
    iam, role = boto3.client("iam", REGION), f"{name}-role-1a2b3c4"
    iam.create_role(RoleName=role, Path="/fleet/", AssumeRolePolicyDocument="{}", Tags=pairs("role"))
    statement = {"Effect": "Allow", "Action": "logs:PutLogEvents", "Resource": "*"}
    policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    iam.put_role_policy(RoleName=role, PolicyName="write-5d6e", PolicyDocument=policy)
    profile = f"{name}-profile-1a2b3c4"
    iam.create_instance_profile(InstanceProfileName=profile)
    iam.add_role_to_instance_profile(InstanceProfileName=profile, RoleName=role)
    return {
        ("aws:ec2/vpc:Vpc", vpc, f"{name}-vpc"),
        ("aws:ec2/subnet:Subnet", subnet, f"{name}-subnet"),
        ("aws:ec2/internetGateway:InternetGateway", internet, f"{name}-internet"),
        ("aws:ec2/natGateway:NatGateway", nat, f"{name}-nat"),
        ("aws:ec2/routeTable:RouteTable", rtb, f"{name}-routes"),
        ("aws:ec2/route:Route", f"{rtb}_0.0.0.0/0", None),
        ("aws:ec2/routeTableAssociation:RouteTableAssociation", f"{subnet}/{rtb}", None),
        ("aws:ec2/securityGroup:SecurityGroup", group, f"{name}-nfs"),
        ("aws:efs/fileSystem:FileSystem", system, f"{name}-files"),
        ("aws:efs/mountTarget:MountTarget", mount, None),
        ("aws:efs/accessPoint:AccessPoint", point, f"{name}-access"),
        ("aws:kms/key:Key", key, f"{name}-key"),
        ("aws:cloudwatch/logGroup:LogGroup", log, f"{name}-logs"),
        ("aws:iam/role:Role", role, f"{name}-role"),
        ("aws:iam/rolePolicy:RolePolicy", f"{role}:write-5d6e", None),
        ("aws:iam/instanceProfile:InstanceProfile", profile, None),
    }


def test_an_environment_is_found_whole_and_without_its_neighbours(simulated):
    dev, prod = environment("dev", 1), environment("prod", 2)
    boto3.client("iam", REGION).create_role(RoleName="somebody", AssumeRolePolicyDocument="{}")
    assert {(found.type, found.import_id, found.name) for found in look("dev")} == dev
    assert {(found.type, found.import_id, found.name) for found in look("prod")} == prod
    assert look("test") == []


def test_a_deleted_key_and_gateway_are_gone(simulated):
    made = {type_: id_ for type_, id_, _ in environment("dev", 1)}
    boto3.client("kms", REGION).schedule_key_deletion(KeyId=made["aws:kms/key:Key"])
    boto3.client("ec2", REGION).delete_nat_gateway(NatGatewayId=made["aws:ec2/natGateway:NatGateway"])
    assert {found.type for found in look()} & {"aws:kms/key:Key", "aws:ec2/natGateway:NatGateway"} == set()


def test_a_role_of_an_account_of_many(simulated):
    """Roles come in pages of 100 and are asked for their tags eight at a time; each keeps its own."""
    iam = boto3.client("iam", REGION)
    for number in range(120):
        tags = [{"Key": "environment", "Value": f"env{number % 3}"}, {"Key": "Name", "Value": f"role-{number}"}]
        iam.create_role(RoleName=f"r{number}", AssumeRolePolicyDocument="{}", Tags=tags)
    found = AwsInventory(REGION).holds("env1")
    assert {(each.import_id, each.name) for each in found} == {(f"r{n}", f"role-{n}") for n in range(1, 120, 3)}
