"""Look-ups of the AWS provider in a rehearsal: about the account, its networks, and policy documents."""

import json

import pytest
from pulumi.runtime.proto import provider_pb2 as pb

from gpufleet_rehearsal.provider.servicer import Provider
from gpufleet_rehearsal.provider.wire import read_struct, write_struct
from tests.rehearsal.engine_talk import refusal, talk, urn

VPC, SUBNET, GROUP = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/securityGroup:SecurityGroup"
POLICY = "aws:iam/getPolicyDocument:getPolicyDocument"
ZONES = "aws:index/getAvailabilityZones:getAvailabilityZones"


async def invoke(engine, token, **arguments):
    answer = await engine.stub.Invoke(pb.InvokeRequest(tok=token, args=write_struct(arguments)))
    return read_struct(getattr(answer, "return"))


@pytest.fixture
def aws(tmp_path):
    """Runs a conversation in a region."""

    def run(conversation, region="us-east-1"):
        async def configured(engine):
            await engine.configure(region=region)
            return await conversation(engine)

        return talk(configured, Provider("aws", tmp_path))

    return run


@pytest.mark.parametrize(
    ("token", "region", "part"),
    [
        ("aws:index/getCallerIdentity:getCallerIdentity", "us-east-1", {"accountId": "000000000000"}),
        (
            "aws:index/getCallerIdentity:getCallerIdentity",
            "us-gov-west-1",
            {"arn": "arn:aws-us-gov:iam::000000000000:user/rehearsal"},
        ),
        ("aws:index/getRegion:getRegion", "eu-central-1", {"region": "eu-central-1", "name": "eu-central-1"}),
        ("aws:index/getPartition:getPartition", "us-east-1", {"partition": "aws", "dnsSuffix": "amazonaws.com"}),
        (
            "aws:index/getPartition:getPartition",
            "cn-north-1",
            {"partition": "aws-cn", "dnsSuffix": "amazonaws.com.cn", "reverseDnsPrefix": "cn.com.amazonaws"},
        ),
        (
            ZONES,
            "eu-central-1",
            {
                "names": ["eu-central-1a", "eu-central-1b", "eu-central-1c"],
                "zoneIds": ["euc1-az1", "euc1-az2", "euc1-az3"],
            },
        ),
    ],
)
def test_what_the_account_is(aws, token, region, part):
    async def conversation(engine):
        answer = await invoke(engine, token)
        assert {key: answer[key] for key in part} == part

    aws(conversation, region)


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        ({"state": "available"}, ["euc1-az1", "euc1-az2", "euc1-az3"]),
        ({"state": "unavailable"}, []),
        ({"excludeNames": ["eu-central-1b"]}, ["euc1-az1", "euc1-az3"]),
        ({"excludeZoneIds": ["euc1-az1"]}, ["euc1-az2", "euc1-az3"]),
        (
            {"filters": [{"name": "opt-in-status", "values": ["opt-in-not-required"]}]},
            ["euc1-az1", "euc1-az2", "euc1-az3"],
        ),
        ({"filters": [{"name": "zone-type", "values": ["local-zone"]}]}, []),
        ({"filters": [{"name": "zone-id", "values": ["euc1-az3", "euc1-az1"]}]}, ["euc1-az1", "euc1-az3"]),
    ],
)
def test_zones_that_are_selected(aws, arguments, ids):
    async def conversation(engine):
        assert (await invoke(engine, ZONES, **arguments))["zoneIds"] == ids

    aws(conversation, "eu-central-1")


async def networks(engine):
    """Ids by name: two networks, three subnets, and a group."""
    made = {}
    for name, block in (("one", "10.0.0.0/16"), ("two", "10.1.0.0/16")):
        tags = {"Name": name, "team": "ml"}
        made[name] = (await engine.create(VPC, {"cidrBlock": block, "tags": tags}, name=name)).id
    for name, vpc, block, zone in (
        ("a", "one", "10.0.1.0/24", "us-east-1a"),
        ("b", "one", "10.0.2.0/24", "us-east-1b"),
        ("c", "two", "10.1.1.0/24", "us-east-1a"),
    ):
        inputs = {"vpcId": made[vpc], "cidrBlock": block, "availabilityZone": zone, "tags": {"tier": name}}
        made[name] = (await engine.create(SUBNET, inputs, name=name)).id
    group = {"vpcId": made["one"], "name": "jobs", "description": "of jobs"}
    made["group"] = (await engine.create(GROUP, group, name="group")).id
    return made


@pytest.mark.parametrize(
    ("token", "arguments", "name"),
    [
        ("aws:ec2/getVpc:getVpc", {"tags": {"Name": "two", "team": "ml"}}, "two"),
        ("aws:ec2/getVpc:getVpc", {"cidrBlock": "10.0.0.0/16", "default": False}, "one"),
        ("aws:ec2/getVpc:getVpc", {"filters": [{"name": "tag:Name", "values": ["one", "three"]}]}, "one"),
        ("aws:ec2/getSubnet:getSubnet", {"availabilityZone": "us-east-1b"}, "b"),
        ("aws:ec2/getSubnet:getSubnet", {"filters": [{"name": "cidr-block", "values": ["10.1.1.0/24"]}]}, "c"),
        ("aws:ec2/getSecurityGroup:getSecurityGroup", {"name": "jobs"}, "group"),
    ],
)
def test_the_one_that_the_arguments_select(aws, token, arguments, name):
    async def conversation(engine):
        made = await networks(engine)
        answer = await invoke(engine, token, **arguments)
        assert answer["id"] == made[name]
        assert answer["arn"].endswith(made[name])

    aws(conversation)


def test_all_that_the_arguments_select(aws):
    async def conversation(engine):
        made = await networks(engine)
        of_one = [{"name": "vpc-id", "values": [made["one"]]}]
        token = "aws:ec2/getSubnets:getSubnets"
        assert (await invoke(engine, token, filters=of_one))["ids"] == [made["a"], made["b"]]
        assert (await invoke(engine, token, filters=of_one, tags={"tier": "b"}))["ids"] == [made["b"]]
        assert (await invoke(engine, token, tags={"tier": "z"}))["ids"] == []

    aws(conversation)


@pytest.mark.parametrize(
    ("token", "arguments", "words"),
    [
        ("aws:ec2/getVpc:getVpc", {"default": True}, "no matching EC2 VPC found; a rehearsal looks in the simulated"),
        ("aws:ec2/getVpc:getVpc", {"tags": {"team": "ml"}}, "multiple EC2 VPCs matched; use additional constraints to"),
        (
            "aws:ec2/getVpc:getVpc",
            {"filters": [{"name": "ipv6-cidr-block-association.state", "values": ["x"]}]},
            "aws:ec2/getVpc:getVpc: filters: 'ipv6-cidr-block-association.state' is not simulated; use one of vpc-id, ",
        ),
        ("aws:ec2/getVpc:getVpc", {"name": "one"}, "aws:ec2/getVpc:getVpc: name: unknown argument; must be one of "),
        (
            "aws:index/getRegion:getRegion",
            {"region": "eu-west-1"},
            "aws:index/getRegion:getRegion: region: a rehearsal knows one region, the provider's, us-east-1; leave",
        ),
        (
            "aws:ec2/getEips:getEips",
            {},
            "aws:ec2/getEips:getEips: the rehearsal cannot answer this look-up; pass what it would find by config",
        ),
        (ZONES, {"filters": [{"name": "group-name", "values": ["x"]}]}, f"{ZONES}: filters: 'group-name' is not"),
    ],
)
def test_a_look_up_without_an_answer_is_one_line(aws, token, arguments, words):
    async def conversation(engine):
        await networks(engine)
        error = await refusal(invoke(engine, token, **arguments))
        assert error.details().startswith(words)
        assert "\n" not in error.details()

    aws(conversation)


def policy(aws, **arguments):
    async def conversation(engine):
        answer = await invoke(engine, POLICY, **arguments)
        assert json.loads(answer["json"]) == json.loads(answer["minifiedJson"])
        assert "\n" not in answer["minifiedJson"]
        assert answer["json"].startswith("{\n  ")
        return json.loads(answer["json"])

    return aws(conversation)


TRUST = {"actions": ["sts:AssumeRole"], "principals": [{"type": "Service", "identifiers": ["ec2.amazonaws.com"]}]}


def test_a_single_value_stands_alone_and_the_provider_sorts_backwards(aws):
    """As policyDecodeConfigStrings of hashicorp/terraform-provider-aws has it."""
    reads = {
        "sid": "Read",
        "actions": ["s3:GetObject", "s3:PutObject"],
        "resources": ["arn:aws:s3:::a/&{aws:username}"],
    }
    assert policy(aws, statements=[TRUST, reads]) == {
        "Version": "2012-10-17",
        "Statement": [
            {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}},
            {
                "Sid": "Read",
                "Effect": "Allow",
                "Action": ["s3:PutObject", "s3:GetObject"],
                "Resource": "arn:aws:s3:::a/${aws:username}",
            },
        ],
    }


@pytest.mark.parametrize(
    ("principals", "principal"),
    [
        ([{"type": "*", "identifiers": ["*"]}], "*"),
        ([{"type": "AWS", "identifiers": ["*"]}], {"AWS": "*"}),
        (
            [{"type": "AWS", "identifiers": ["1"]}, {"type": "AWS", "identifiers": ["2", "3"]}],
            {"AWS": ["1", "3", "2"]},
        ),
    ],
)
def test_principals(aws, principals, principal):
    (statement,) = policy(aws, statements=[{**TRUST, "principals": principals}])["Statement"]
    assert statement["Principal"] == principal


def test_conditions_of_one_test_and_variable_are_one(aws):
    conditions = [
        {"test": "StringLike", "variable": "s3:prefix", "values": ["b", "a"]},
        {"test": "StringLike", "variable": "s3:prefix", "values": ["c"]},
        {"test": "Bool", "variable": "aws:SecureTransport", "values": ["false"]},
    ]
    (statement,) = policy(aws, statements=[{**TRUST, "conditions": conditions}])["Statement"]
    assert statement["Condition"] == {
        "StringLike": {"s3:prefix": ["b", "a", "c"]},
        "Bool": {"aws:SecureTransport": "false"},
    }


def test_sources_come_first_and_overrides_take_the_place_of_their_sid(aws):
    source = {"Statement": {"Sid": "Base", "Effect": "Allow", "Action": "ec2:*", "Resource": "*"}}
    override = {"Version": "2012-10-17", "Statement": [{"Sid": "Own", "Effect": "Deny", "Action": "s3:*"}]}
    made = policy(
        aws,
        policyId="whole",
        sourcePolicyDocuments=[json.dumps(source)],
        statements=[{"sid": "Own", "actions": ["s3:*"], "resources": ["*"]}],
        overridePolicyDocuments=[json.dumps(override)],
    )
    assert made == {
        "Version": "2012-10-17",
        "Id": "whole",
        "Statement": [source["Statement"], override["Statement"][0]],
    }


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            {"statements": [{"sid": "A"}, {"sid": "A"}]},
            "duplicate Sid (A). Remove the Sid or ensure the Sid is unique.",
        ),
        ({"statements": [{"sid": "a-b"}]}, "invalid value for sid (must only include alphanumeric characters): a-b"),
        ({"statements": [{"effect": "allow"}]}, 'expected effect to be one of ["Allow" "Deny"], got allow'),
        ({"version": "2020-01-01"}, "expected version to be one of "),
        ({"sourcePolicyDocuments": ["{"]}, "merging source document 0: "),
        (
            {"version": "2008-10-17", "statements": [{"resources": ["&{x}"]}]},
            "found &{ sequence in (&{x}), which is not supported in document version 2008-10-17",
        ),
    ],
)
def test_wrong_documents_are_one_line(aws, arguments, words):
    async def conversation(engine):
        error = await refusal(invoke(engine, POLICY, **arguments))
        assert error.details().startswith(f"writing IAM Policy Document: {words}")
        assert "\n" not in error.details()

    aws(conversation)


def test_resource_without_inputs_has_not_changed(aws):
    async def conversation(engine):
        workspace = "aws:amp/workspace:Workspace"
        made = await engine.create(workspace, {})
        asked = {"id": made.id, "urn": urn(workspace), "olds": made.properties, "news": write_struct({})}
        same = await engine.stub.Diff(pb.DiffRequest(old_inputs=write_struct({}), **asked))
        assert same.changes == pb.DiffResponse.DIFF_NONE
        older = await engine.stub.Diff(pb.DiffRequest(**asked))
        assert older.changes == pb.DiffResponse.DIFF_SOME

    aws(conversation)
