"""What the real cloud's inventory finds, reads and refuses to guess."""

import re
from importlib.resources import files

import pytest

from gpufleet.adoption.cloud_resource import CloudResource
from gpufleet.aws.client import AwsClientError
from gpufleet.aws.inventory import table
from tests.unit.aws.inventory_rows import OWNER, ROWS, TAGS, arn, look, present, tagged


@pytest.mark.parametrize(("type_", "its_arn", "import_id", "own"), ROWS, ids=[row[0] for row in ROWS])
def test_a_row_reads_its_arn(aws, type_, its_arn, import_id, own):
    present(aws)
    aws.answers["GetResources"] = tagged(its_arn)
    assert look() == [CloudResource(type_, import_id, "thing", own, arn=its_arn, tags=OWNER)]


def test_every_row_has_an_example():
    roles = {"aws:iam/role:Role"}
    assert {row.type for row in table().rows} == {row[0] for row in ROWS} | roles


UNTAGGED = {
    "aws:directconnect/gatewayAssociation:GatewayAssociation",
    "aws:ec2/route:Route",
    "aws:ec2/routeTableAssociation:RouteTableAssociation",
    "aws:efs/mountTarget:MountTarget",
    "aws:iam/instanceProfile:InstanceProfile",
    "aws:iam/rolePolicy:RolePolicy",
}
ACCEPTED_TWICE = {
    "aws:autoscaling/schedule:Schedule",
    "aws:autoscaling/tag:Tag",
    "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup",
    "aws:ec2/vpnConnectionRoute:VpnConnectionRoute",
    "aws:ec2/vpnGatewayRoutePropagation:VpnGatewayRoutePropagation",
    "aws:ecr/lifecyclePolicy:LifecyclePolicy",
    "aws:efs/backupPolicy:BackupPolicy",
    "aws:efs/fileSystemPolicy:FileSystemPolicy",
    "aws:eks/accessPolicyAssociation:AccessPolicyAssociation",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketLogging:BucketLogging",
    "aws:s3/bucketOwnershipControls:BucketOwnershipControls",
    "aws:s3/bucketPolicy:BucketPolicy",
    "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
    "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
    "aws:s3/bucketVersioning:BucketVersioning",
}
ENDS_BY_ITSELF = {"aws:ssm/activation:Activation"}
OF_THE_ACCOUNT = {
    "aws:ecr/pullThroughCacheRule:PullThroughCacheRule",
    "aws:ecr/repositoryCreationTemplate:RepositoryCreationTemplate",
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
}
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
                    "datasync",
                    "directconnect",
                    "ec2",
                    "ecr",
                    "efs",
                    "eks",
                    "iam",
                    "kms",
                    "rolesanywhere",
                    "s3",
                    "ssm",
                    "vpc",
                }:
                    made.add(f"aws:{module}/{name[0].lower()}{name[1:]}:{name}")
    made = {type_ for type_ in made if not type_.endswith("Args")}
    assert len(made) > 30
    assert made - {row.type for row in table().rows} == UNTAGGED | ACCEPTED_TWICE | ENDS_BY_ITSELF | OF_THE_ACCOUNT


def test_every_question_is_asked():
    assert {row.alive for row in table().rows} - {None} == set(table().questions)


@pytest.mark.parametrize("partition", ["aws", "aws-us-gov", "aws-cn"])
def test_every_partition_is_read(aws, partition):
    its_arn = f"arn:{partition}:eks:us-gov-west-1:123456789012:cluster/dev"
    aws.answers["GetResources"] = tagged(its_arn)
    assert look() == [CloudResource("aws:eks/cluster:Cluster", "dev", "thing", "dev", arn=its_arn, tags=OWNER)]


def test_what_no_row_reads_is_shown_as_what_it_is(aws):
    jobs, volume = arn("dynamodb", "table/jobs"), arn("ec2", "transit-gateway/tgw-1")
    aws.answers["GetResources"] = tagged(jobs, volume)
    assert look() == [
        CloudResource("aws:dynamodb", jobs, "thing", arn=jobs, tags=OWNER),
        CloudResource("aws:ec2", volume, "thing", arn=volume, tags=OWNER),
    ]
    assert str(look()[0]) == f"thing (aws:dynamodb {jobs})"


def test_without_a_name_it_is_found_all_the_same(aws):
    aws.answers["GetResources"] = tagged(arn("eks", "cluster/dev"), tags=TAGS[:1])
    assert [(found.name, str(found)) for found in look()] == [("", "unnamed (aws:eks/cluster:Cluster dev)")]


def test_backups_belong_to_their_vault(aws):
    aws.answers["GetResources"] = tagged(
        arn("backup", "recovery-point:1a2b"), arn("ec2", "snapshot/snap-1"), arn("ssm", "managed-instance/mi-0a1b")
    )
    assert look() == []


def test_what_is_listed_twice_is_one(aws):
    """A node group of the same name as a deleted one that the Tagging API still lists."""
    aws.answers["GetResources"] = tagged(arn("eks", "nodegroup/dev/train/1-1"), arn("eks", "nodegroup/dev/train/2-2"))
    assert [found.import_id for found in look()] == ["dev:train"]


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
    with pytest.raises(AwsClientError) as error:
        look()
    assert str(error.value) == (
        f"{permission}: denied by AWS; without it some of what the cloud holds cannot be seen: allow it to the "
        "credentials in use (the words of AWS)"
    )
