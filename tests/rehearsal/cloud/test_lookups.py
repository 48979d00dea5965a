"""Look-ups of what the simulated AWS account holds, and of what AWS itself owns."""

import json
import re

import pytest

from gpufleet_rehearsal.cloud import aws_owned
from gpufleet_rehearsal.cloud.checks import CloudError
from gpufleet_rehearsal.cloud.lookups import HOLDS, answer_invoke
from tests.rehearsal.scenarios import AWS, in_scenario

AMI = r"ami-[0-9a-f]{17}"


@pytest.fixture
def aws(tmp_path):
    return in_scenario(AWS, "everything", tmp_path)


@pytest.mark.parametrize(
    ("token", "arguments", "name", "same"),
    [
        ("aws:eks/getCluster:getCluster", {"name": "training"}, "cluster", ["arn", "endpoint", "version", "vpcConfig"]),
        ("aws:ssm/getParameter:getParameter", {"name": "/ml/image"}, "parameter", ["arn", "type", "value", "version"]),
        ("aws:iam/getRole:getRole", {"name": "nodes"}, "node-role", ["arn", "assumeRolePolicy", "path", "uniqueId"]),
        ("aws:kms/getKey:getKey", {"keyId": "alias/everything"}, "key", ["id", "arn", "description", "keyUsage"]),
        ("aws:kms/getAlias:getAlias", {"name": "alias/everything"}, "alias", ["arn", "targetKeyId", "targetKeyArn"]),
        ("aws:s3/getBucket:getBucket", {"bucket": "checkpoints"}, "bucket", ["arn", "bucketRegionalDomainName"]),
        ("aws:s3/getBucket:getBucket", {"bucket": "old-checkpoints"}, "old-bucket", ["arn", "bucketDomainName"]),
    ],
)
def test_answer_has_what_the_resource_has(aws, token, arguments, name, same):
    answer, there = answer_invoke(aws.cloud, token, arguments), aws.resource(name)
    whole = {"id": there.id, **there.view}
    assert {key: answer[key] for key in same} == {key: whole[key] for key in same}


def test_key_is_found_by_its_id_and_its_arn_as_well(aws):
    key = aws.resource("key")
    for handle in (key.id, key.view["arn"]):
        assert answer_invoke(aws.cloud, "aws:kms/getKey:getKey", {"keyId": handle})["id"] == key.id


def test_cluster_has_its_authority_and_issuer_in_lists(aws):
    answer, cluster = (
        answer_invoke(aws.cloud, "aws:eks/getCluster:getCluster", {"name": "training"}),
        aws.resource("cluster"),
    )
    assert answer["certificateAuthorities"] == [cluster.view["certificateAuthority"]]
    assert answer["identities"] == cluster.view["identities"]
    assert answer["status"] == "ACTIVE"


def test_tables_and_gateways_of_a_network(aws):
    vpc = aws.resource("other-vpc")
    main = vpc.view["mainRouteTableId"]
    of_it = {"vpcId": vpc.id}
    assert answer_invoke(aws.cloud, "aws:ec2/getRouteTable:getRouteTable", of_it)["routeTableId"] == main
    assert answer_invoke(aws.cloud, "aws:ec2/getRouteTables:getRouteTables", of_it)["ids"] == [main]
    attached = {"filters": [{"name": "attachment.vpc-id", "values": [aws.resource("vpc").id]}]}
    gateway = answer_invoke(aws.cloud, "aws:ec2/getInternetGateway:getInternetGateway", attached)
    assert gateway["internetGatewayId"] == aws.resource("gateway").id
    assert gateway["attachments"] == [{"state": "available", "vpcId": aws.resource("vpc").id}]


@pytest.mark.parametrize(
    ("token", "arguments", "line"),
    [
        ("aws:eks/getCluster:getCluster", {"name": "x"}, "reading EKS Cluster (x): couldn't find resource"),
        ("aws:ssm/getParameter:getParameter", {"name": "/x"}, "reading SSM Parameter (/x): couldn't find resource"),
        ("aws:iam/getRole:getRole", {"name": "x"}, "reading IAM Role (x): couldn't find resource"),
        ("aws:kms/getKey:getKey", {"keyId": "alias/x"}, "reading KMS Key (alias/x): couldn't find resource"),
        ("aws:kms/getAlias:getAlias", {"name": "alias/x"}, "reading KMS Alias (alias/x): couldn't find resource"),
        ("aws:s3/getBucket:getBucket", {"bucket": "x"}, "reading S3 Bucket (x): couldn't find resource"),
        (
            "aws:ec2/getRouteTable:getRouteTable",
            {"routeTableId": "rtb-0"},
            f"query returned no results. Please change your search criteria and try again; {HOLDS}",
        ),
        (
            "aws:ec2/getRouteTable:getRouteTable",
            {},
            "multiple Route Tables matched; use additional constraints to reduce matches to a single Route Table; "
            + HOLDS,
        ),
        (
            "aws:ec2/getInternetGateway:getInternetGateway",
            {"internetGatewayId": "igw-0"},
            f"no matching EC2 Internet Gateway found; {HOLDS}",
        ),
        (aws_owned.IMAGE, {"owners": ["self"], "filters": [{"name": "name", "values": ["x*"]}]}, aws_owned.NO_IMAGE),
        (
            aws_owned.IMAGE,
            {"owners": ["amazon"], "mostRecent": True},
            f"{aws_owned.IMAGE}: filters: a rehearsal makes an image of its name or image-id; give one of them",
        ),
        (
            aws_owned.PARAMETER,
            {"name": "/aws/service/eks/optimized-ami/1.99/amazon-linux-2023/x86_64/standard/recommended/image_id"},
            "reading SSM Parameter (/aws/service/eks/optimized-ami/1.99/amazon-linux-2023/x86_64/standard/recommended/"
            "image_id): couldn't find resource",
        ),
        (
            aws_owned.PARAMETER,
            {"name": "/aws/service/eks/optimized-ami/1.33/amazon-linux-2/recommended/release_version"},
            "reading SSM Parameter (/aws/service/eks/optimized-ami/1.33/amazon-linux-2/recommended/release_version): "
            "couldn't find resource",
        ),
    ],
)
def test_what_is_not_there_has_the_words_of_the_provider(aws, token, arguments, line):
    with pytest.raises(CloudError) as error:
        answer_invoke(aws.cloud, token, arguments)
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("owners", "name", "part"),
    [
        (
            ["amazon"],
            "al2023-ami-2023.*-x86_64",
            {"name": "al2023-ami-2023.rehearsal-x86_64", "architecture": "x86_64"},
        ),
        (
            ["602401143452"],
            "amazon-eks-node-al2023-arm64-*",
            {"ownerId": "602401143452", "rootDeviceName": "/dev/xvda"},
        ),
        (
            ["099720109477"],
            "ubuntu/images/hvm-ssd/ubuntu-jammy-22.04-amd64-server-*",
            {"rootDeviceName": "/dev/sda1", "imageOwnerAlias": "", "description": aws_owned.STAND_IN},
        ),
    ],
)
def test_image_is_a_stand_in_that_is_always_the_same(aws, owners, name, part):
    asked = {"owners": owners, "mostRecent": True, "filters": [{"name": "name", "values": [name]}]}
    answer = answer_invoke(aws.cloud, aws_owned.IMAGE, asked)
    assert re.fullmatch(AMI, answer["id"])
    assert answer["imageId"] == answer["id"] == answer_invoke(aws.cloud, aws_owned.IMAGE, asked)["id"]
    assert {key: answer[key] for key in part} == part
    other = {**asked, "filters": [{"name": "name", "values": [f"other-{name}"]}]}
    assert answer_invoke(aws.cloud, aws_owned.IMAGE, other)["id"] != answer["id"]


def test_image_may_be_asked_for_by_its_id_and_architecture(aws):
    filters = [{"name": "image-id", "values": ["ami-0a"]}, {"name": "architecture", "values": ["arm64"]}]
    answer = answer_invoke(aws.cloud, aws_owned.IMAGE, {"filters": filters})
    assert (answer["id"], answer["architecture"]) == ("ami-0a", "arm64")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64", AMI),
        ("/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id", AMI),
        ("/aws/service/bottlerocket/aws-k8s-1.33-nvidia/x86_64/latest/image_id", AMI),
        ("/aws/service/bottlerocket/aws-k8s-1.33-nvidia/x86_64/latest/image_version", r"1\.50\.0"),
        ("/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id", AMI),
        ("/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id", AMI),
        ("/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/nvidia/recommended/image_id", AMI),
        (
            "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/nvidia/recommended/release_version",
            r"1\.33\.0-20261101",
        ),
    ],
)
def test_public_parameters(aws, name, value):
    answer = answer_invoke(aws.cloud, aws_owned.PARAMETER, {"name": name})
    assert re.fullmatch(value, answer["value"])
    assert answer["arn"] == f"arn:aws:ssm:us-east-1::parameter{name}"


def test_public_parameter_of_an_eks_image_as_a_whole(aws):
    start = "/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended"
    whole = json.loads(answer_invoke(aws.cloud, aws_owned.PARAMETER, {"name": start})["value"])
    for field in ("image_id", "image_name", "release_version"):
        assert answer_invoke(aws.cloud, aws_owned.PARAMETER, {"name": f"{start}/{field}"})["value"] == whole[field]


def test_keys_of_aws_are_in_each_account(aws):
    alias = answer_invoke(aws.cloud, aws_owned.ALIAS, {"name": "alias/aws/ebs"})
    key = answer_invoke(aws.cloud, aws_owned.KEY, {"keyId": "alias/aws/ebs"})
    assert (key["id"], key["arn"], key["keyManager"]) == (alias["targetKeyId"], alias["targetKeyArn"], "AWS")
    assert alias["arn"] == "arn:aws:kms:us-east-1:000000000000:alias/aws/ebs"
