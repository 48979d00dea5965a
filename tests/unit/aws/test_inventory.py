"""What the real cloud's inventory finds, reads and refuses to guess."""

import re
from importlib.resources import files

import pytest

from gpufleet.adopt import Found
from gpufleet.aws.account import AccountError
from gpufleet.aws.inventory import AwsInventory, table

REGION = "us-east-1"
HERE = "arn:aws:{service}:us-east-1:123456789012:{rest}"
TAGS = [{"Key": "environment", "Value": "dev"}, {"Key": "Name", "Value": "thing"}]


def arn(service, rest):
    return HERE.format(service=service, rest=rest)


def tagged(*arns, tags=TAGS):
    return {"ResourceTagMappingList": [{"ResourceARN": each, "Tags": tags} for each in arns]}


def look(environment="dev"):
    return AwsInventory(REGION).holds(environment)


KEY = "1234abcd-12ab-34cd-56ef-1234567890ab"
SSO = "arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/us-east-1/AWSReservedSSO_Admin_0a1b"
ENTRY = arn("eks", "access-entry/dev/role/123456789012/AWSReservedSSO_Admin_0a1b/98c8a7f4-1111-2222-3333-444455556666")

ROWS = [
    (
        "aws:budgets/budget:Budget",
        "arn:aws:budgets::123456789012:budget/dev-budget-budget-1a2b3c4",
        "123456789012:dev-budget-budget-1a2b3c4",
        "123456789012:dev-budget-budget-1a2b3c4",
    ),
    ("aws:ec2/vpc:Vpc", arn("ec2", "vpc/vpc-0a1b"), "vpc-0a1b", "vpc-0a1b"),
    ("aws:ec2/subnet:Subnet", arn("ec2", "subnet/subnet-0a1b"), "subnet-0a1b", "subnet-0a1b"),
    ("aws:ec2/internetGateway:InternetGateway", arn("ec2", "internet-gateway/igw-0a1b"), "igw-0a1b", "igw-0a1b"),
    ("aws:ec2/eip:Eip", arn("ec2", "elastic-ip/eipalloc-0a1b"), "eipalloc-0a1b", "eipalloc-0a1b"),
    ("aws:ec2/natGateway:NatGateway", arn("ec2", "natgateway/nat-0a1b"), "nat-0a1b", "nat-0a1b"),
    ("aws:ec2/routeTable:RouteTable", arn("ec2", "route-table/rtb-0a1b"), "rtb-0a1b", "rtb-0a1b"),
    ("aws:ec2/vpcEndpoint:VpcEndpoint", arn("ec2", "vpc-endpoint/vpce-0a1b"), "vpce-0a1b", "vpce-0a1b"),
    ("aws:ec2/flowLog:FlowLog", arn("ec2", "vpc-flow-log/fl-0a1b"), "fl-0a1b", "fl-0a1b"),
    ("aws:ec2/securityGroup:SecurityGroup", arn("ec2", "security-group/sg-0a1b"), "sg-0a1b", "sg-0a1b"),
    (
        "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
        arn("ec2", "security-group-rule/sgr-0in"),
        "sgr-0in",
        "sgr-0in",
    ),
    (
        "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule",
        arn("ec2", "security-group-rule/sgr-0out"),
        "sgr-0out",
        "sgr-0out",
    ),
    ("aws:ec2/launchTemplate:LaunchTemplate", arn("ec2", "launch-template/lt-0a1b"), "lt-0a1b", "lt-0a1b"),
    ("aws:ec2/placementGroup:PlacementGroup", arn("ec2", "placement-group/dev-train"), "dev-train", "dev-train"),
    (
        "aws:ec2/capacityReservation:CapacityReservation",
        arn("ec2", "capacity-reservation/cr-0a1b"),
        "cr-0a1b",
        "cr-0a1b",
    ),
    ("aws:ec2/instance:Instance", arn("ec2", "instance/i-0a1b"), "i-0a1b", "i-0a1b"),
    ("aws:ebs/volume:Volume", arn("ec2", "volume/vol-0a1b"), "vol-0a1b", "vol-0a1b"),
    ("aws:ec2/networkInterface:NetworkInterface", arn("ec2", "network-interface/eni-0a1b"), "eni-0a1b", "eni-0a1b"),
    (
        "aws:batch/computeEnvironment:ComputeEnvironment",
        arn("batch", "compute-environment/dev-spot-1a2b"),
        "dev-spot-1a2b",
        "dev-spot-1a2b",
    ),
    ("aws:batch/jobQueue:JobQueue", *[arn("batch", "job-queue/dev-queue-1a2b")] * 3),
    ("aws:batch/jobDefinition:JobDefinition", *[arn("batch", "job-definition/dev-job-1a2b:3")] * 3),
    ("aws:batch/schedulingPolicy:SchedulingPolicy", *[arn("batch", "scheduling-policy/dev-shares-1a2b")] * 3),
    ("aws:eks/cluster:Cluster", arn("eks", "cluster/dev"), "dev", "dev"),
    (
        "aws:eks/nodeGroup:NodeGroup",
        arn("eks", "nodegroup/dev/train-1a2b/0a1b-2c3d"),
        "dev:train-1a2b",
        "dev:train-1a2b",
    ),
    ("aws:eks/addon:Addon", arn("eks", "addon/dev/vpc-cni/0a1b-2c3d"), "dev:vpc-cni", "dev:vpc-cni"),
    ("aws:eks/accessEntry:AccessEntry", ENTRY, f"dev:{SSO}", f"dev:{SSO}"),
    (
        "aws:eks/podIdentityAssociation:PodIdentityAssociation",
        arn("eks", "podidentityassociation/dev/a-yrpsdroc4ei7k6xps"),
        "dev,a-yrpsdroc4ei7k6xps",
        "a-yrpsdroc4ei7k6xps",
    ),
    ("aws:efs/fileSystem:FileSystem", arn("elasticfilesystem", "file-system/fs-0a1b"), "fs-0a1b", "fs-0a1b"),
    ("aws:efs/accessPoint:AccessPoint", arn("elasticfilesystem", "access-point/fsap-0a1b"), "fsap-0a1b", "fsap-0a1b"),
    ("aws:ecr/repository:Repository", arn("ecr", "repository/dev/train"), "dev/train", "dev/train"),
    ("aws:kms/key:Key", arn("kms", f"key/{KEY}"), KEY, KEY),
    ("aws:cloudwatch/logGroup:LogGroup", arn("logs", "log-group:/aws/eks/dev/cluster"), *["/aws/eks/dev/cluster"] * 2),
    ("aws:s3/bucket:Bucket", "arn:aws:s3:::dev-data", "dev-data", "dev-data"),
]


def present(aws):
    """Everything of ROWS exists, and is of the kind that its row says."""
    ids = [row[3] for row in ROWS]
    rules = [
        {"SecurityGroupRuleId": "sgr-0in", "IsEgress": False},
        {"SecurityGroupRuleId": "sgr-0out", "IsEgress": True},
    ]
    instance = {"InstanceId": "i-0a1b", "State": {"Name": "running"}, "Tags": TAGS}
    aws.answers |= {
        "DescribeTags": {"Tags": [{"ResourceId": each} for each in ids]},
        "DescribeNatGateways": {"NatGateways": [{"NatGatewayId": "nat-0a1b", "State": "available"}]},
        "DescribeVpcEndpoints": {"VpcEndpoints": [{"VpcEndpointId": "vpce-0a1b", "State": "available"}]},
        "DescribeSecurityGroupRules": {"SecurityGroupRules": rules},
        "DescribePlacementGroups": {"PlacementGroups": [{"GroupName": "dev-train", "State": "available"}]},
        "DescribeCapacityReservations": {
            "CapacityReservations": [{"CapacityReservationId": "cr-0a1b", "State": "active"}]
        },
        "DescribeInstances": {"Reservations": [{"Instances": [instance]}]},
        "DescribeVolumes": {"Volumes": [{"VolumeId": "vol-0a1b"}]},
        "DescribeNetworkInterfaces": {"NetworkInterfaces": [{"NetworkInterfaceId": "eni-0a1b"}]},
        "ListAccessEntries": {"accessEntries": [SSO]},
        "DescribeAccessEntry": {"accessEntry": {"accessEntryArn": ENTRY, "principalArn": SSO}},
        "DescribeKey": {"KeyMetadata": {"KeyId": KEY, "KeyState": "Enabled"}},
    }


@pytest.mark.parametrize(("type_", "its_arn", "import_id", "own"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_reads_its_arn(aws, type_, its_arn, import_id, own):
    present(aws)
    aws.answers["GetResources"] = tagged(its_arn)
    assert look() == [Found(type_, import_id, "thing", own, arn=its_arn)]


def test_every_row_has_an_example():
    roles = {"aws:iam/role:Role"}
    assert {row.type for row in table().rows} == {row[0] for row in ROWS} | roles


UNTAGGED = {
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:efs/mountTarget:MountTarget",
    "aws:iam/instanceProfile:InstanceProfile",
    "aws:iam/rolePolicy:RolePolicy",
}
"""Found by what they hang on."""
ACCEPTED_TWICE = {
    "aws:autoscaling/tag:Tag",
    "aws:ecr/lifecyclePolicy:LifecyclePolicy",
    "aws:efs/backupPolicy:BackupPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketVersioning:BucketVersioning",
}
OF_THE_ACCOUNT = {"aws:ecr/pullThroughCacheRule:PullThroughCacheRule"}


SERVICES = {"autoscaling", "batch", "cloudwatch", "ec2", "ecr", "efs", "eks", "iam", "kms", "s3", "vpc"}


def test_whatever_a_component_makes_can_be_found_or_needs_not_be():
    made = set()
    for file in (files("gpufleet.aws")).iterdir():
        if file.name.endswith(".py"):
            for module, name in re.findall(r"\b([a-z0-9]+)\.([A-Z]\w+)\(", file.read_text()):
                if module in {
                    "autoscaling",
                    "batch",
                    "cloudwatch",
                    "ec2",
                    "ecr",
                    "efs",
                    "eks",
                    "iam",
                    "kms",
                    "s3",
                    "vpc",
                }:
                    made.add(f"aws:{module}/{name[0].lower()}{name[1:]}:{name}")
    made = {type_ for type_ in made if not type_.endswith("Args")}
    assert len(made) > 30
    assert made - {row.type for row in table().rows} == UNTAGGED | ACCEPTED_TWICE | OF_THE_ACCOUNT


def test_every_question_is_asked():
    assert {row.alive for row in table().rows} - {None} == set(table().questions)


@pytest.mark.parametrize("partition", ["aws", "aws-us-gov", "aws-cn"])
def test_every_partition_is_read(aws, partition):
    its_arn = f"arn:{partition}:eks:us-gov-west-1:123456789012:cluster/dev"
    aws.answers["GetResources"] = tagged(its_arn)
    assert look() == [Found("aws:eks/cluster:Cluster", "dev", "thing", "dev", arn=its_arn)]


def test_what_no_row_reads_is_shown_as_what_it_is(aws):
    jobs, volume = arn("dynamodb", "table/jobs"), arn("ec2", "vpn-gateway/vgw-1")
    aws.answers["GetResources"] = tagged(jobs, volume)
    assert look() == [
        Found("aws:dynamodb", jobs, "thing", arn=jobs),
        Found("aws:ec2", volume, "thing", arn=volume),
    ]
    assert str(look()[0]) == f"thing (aws:dynamodb {jobs})"


def test_without_a_name_it_is_found_all_the_same(aws):
    aws.answers["GetResources"] = tagged(arn("eks", "cluster/dev"), tags=TAGS[:1])
    assert [(found.name, str(found)) for found in look()] == [("", "unnamed (aws:eks/cluster:Cluster dev)")]


def test_backups_belong_to_their_vault(aws):
    aws.answers["GetResources"] = tagged(arn("backup", "recovery-point:1a2b"), arn("ec2", "snapshot/snap-1"))
    assert look() == []


def test_what_is_listed_twice_is_one(aws):
    """A node group of the same name as a deleted one that the Tagging API still lists."""
    aws.answers["GetResources"] = tagged(arn("eks", "nodegroup/dev/train/1-1"), arn("eks", "nodegroup/dev/train/2-2"))
    assert [found.import_id for found in look()] == ["dev:train"]


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


def test_each_question_is_asked_once_with_the_environment(aws):
    present(aws)
    aws.answers["GetResources"] = tagged(*[arn("ec2", f"vpc/vpc-{number}") for number in range(3)])
    look()
    mine = {"Filters": [{"Name": "key", "Values": ["environment"]}, {"Name": "value", "Values": ["dev"]}]}
    assert [request for operation, request in aws.asked if operation == "DescribeTags"] == [mine]


def test_every_page_is_read(aws):
    pages = {
        None: tagged(arn("eks", "cluster/one")) | {"PaginationToken": "more"},
        "more": tagged(arn("eks", "cluster/two")) | {"PaginationToken": ""},
    }
    aws.answers["GetResources"] = lambda request: pages[request.get("PaginationToken")]
    assert [found.import_id for found in look()] == ["one", "two"]
    asked = [request["TagFilters"] for operation, request in aws.asked if operation == "GetResources"]
    assert asked == [[{"Key": "environment", "Values": ["dev"]}]] * 2


def route_table(**content):
    return {"RouteTables": [{"RouteTableId": "rtb-1", "Routes": [], "Associations": [], **content}]}


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
    assert look() == [Found("aws:ec2/route:Route", import_id, None, inputs={"routeTableId": "rtb-1", **inputs})]


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
    assert look() == [Found(type_, f"{end}-1/rtb-1", None, "rtbassoc-1", inputs)]


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


DENIED = [
    ("GetResources", "AccessDeniedException", "tag:GetResources"),
    ("ListRoles", "AccessDenied", "iam:ListRoles"),
    ("ListRoleTags", "AccessDenied", "iam:ListRoleTags"),
    ("ListRolePolicies", "AccessDenied", "iam:ListRolePolicies"),
    ("ListInstanceProfilesForRole", "AccessDenied", "iam:ListInstanceProfilesForRole"),
    ("DescribeTags", "UnauthorizedOperation", "ec2:DescribeTags"),
    ("DescribeRouteTables", "UnauthorizedOperation", "ec2:DescribeRouteTables"),
    ("DescribeMountTargets", "AccessDeniedException", "elasticfilesystem:DescribeMountTargets"),
    ("DescribeAccessEntry", "AccessDeniedException", "eks:DescribeAccessEntry"),
    ("DescribeKey", "AccessDeniedException", "kms:DescribeKey"),
]


@pytest.mark.parametrize(("operation", "code", "permission"), DENIED, ids=[row[2] for row in DENIED])
def test_no_part_is_taken_for_empty_when_a_permission_is_missing(aws, operation, code, permission):
    present(aws)
    role = {"RoleName": "r", "Arn": arn("iam", "role/r"), "Path": "/", "RoleId": "AROA00000000000000", "CreateDate": 0}
    aws.answers |= {
        "GetResources": tagged(*[row[1] for row in ROWS]),
        "ListRoles": {"Roles": [role]},
        "ListRoleTags": {"Tags": TAGS},
        operation: code,
    }
    with pytest.raises(AccountError) as error:
        look()
    assert str(error.value) == (
        f"{permission}: denied by AWS; without it some of what the cloud holds cannot be seen: allow it to the "
        "credentials in use (the words of AWS)"
    )
