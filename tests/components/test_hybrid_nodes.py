"""HybridNodes: exact children for both kinds of credentials, what waits for what, and what it refuses."""

import json
from datetime import UTC, datetime, timedelta
from typing import cast

import pytest

from gpufleet.aws.hybrid_nodes import HybridNodes, HybridNodesArgs
from tests.components.certificates import certificate
from tests.components.recorder import MARK, UNKNOWN, Recording, Secret, construct, refusal

TAGS = {"owner": "ml", **MARK}
NODES, PODS = "10.80.0.0/24", "10.81.0.0/16"
TODAY = datetime.now(UTC).date()
DAY = (TODAY + timedelta(days=7)).isoformat()
ARN = "arn:aws:mock::000000000000:"
BASE: dict[str, object] = {
    "cluster_name": "fleet",
    "cluster_security_group_id": "sg-cluster",
    "region": "us-east-1",
    "remote_networks": {"nodes": [NODES], "pods": [PODS]},
    "credentials": "ssm",
    "tags": TAGS,
}
ROLE = "aws:iam/role:Role"
POLICY = "aws:iam/rolePolicy:RolePolicy"
ATTACHMENT = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
RULE = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
ENTRY = "aws:eks/accessEntry:AccessEntry"
ACTIVATION = "aws:ssm/activation:Activation"
ANCHOR = "aws:rolesanywhere/trustAnchor:TrustAnchor"
PROFILE = "aws:rolesanywhere/profile:Profile"


def build(preview: bool, /, **changes: object) -> Recording[HybridNodes]:
    args = cast(HybridNodesArgs, {**BASE, **changes})
    return construct(lambda: HybridNodes("own", args), preview, {ACTIVATION: {"activationCode": "code-of-{name}"}})


def known(value: object, preview: bool) -> object:
    return UNKNOWN if preview else value


def named(name: str) -> dict[str, str]:
    return {**TAGS, "Name": name}


def test_the_networks_reach_the_api_and_the_names(preview):
    expected = {}
    for kind, cidr, slug in (("nodes", NODES, "10-80-0-0-24"), ("pods", PODS, "10-81-0-0-16")):
        for what, protocol, port in (("api", "tcp", 443), ("dns-tcp", "tcp", 53), ("dns-udp", "udp", 53)):
            name = f"own-{kind}-{slug}-{what}"
            expected[name] = {
                "securityGroupId": "sg-cluster",
                "cidrIpv4": cidr,
                "ipProtocol": protocol,
                "fromPort": port,
                "toPort": port,
                "description": f"{'API' if port == 443 else 'DNS'} of the cluster for own servers",
                "tags": named(name),
            }
    assert build(preview).inputs(RULE) == expected


def test_without_an_activation_nobody_can_register_yet(preview):
    before, after = build(preview, activation=False), build(preview)
    assert before.inputs(ACTIVATION) == {}
    assert before.outputs["own"]["credentials"] == Secret({})
    made = {each.name: each.inputs for each in before.resources}
    assert made == {each.name: each.inputs for each in after.resources if each.name != "own-activation"}


def test_an_activation(preview):
    recording = build(preview, count=12.0, activation_expires=DAY)
    assert recording.inputs(ACTIVATION) == {
        "own-activation": {
            "name": "fleet",
            "description": "Own servers of an EKS cluster",
            "iamRole": known("own-role", preview),
            "registrationLimit": 12,
            "expirationDate": f"{DAY}T00:00:00Z",
            "tags": {**named("own-activation"), "eks-cluster": "fleet"},
        }
    }
    rights = {"own-role-policy", "own-role-AmazonSSMManagedInstanceCore", "own-role-AmazonEC2ContainerRegistryPullOnly"}
    assert recording.one(ACTIVATION).property_dependencies["iamRole"] == {"own-role", "own-access", *rights}
    assert recording.names(ANCHOR) == recording.names(PROFILE) == []


def test_an_activation_without_a_day_ends_when_aws_says(preview):
    inputs = build(preview).one(ACTIVATION).inputs
    assert "expirationDate" not in inputs
    assert inputs["registrationLimit"] == 1


def test_the_role_is_taken_by_systems_manager_of_this_account(preview):
    recording = build(preview)
    role = recording.one(ROLE).inputs
    if preview:
        assert role["assumeRolePolicy"] == UNKNOWN
        return
    assert json.loads(role["assumeRolePolicy"])["Statement"] == [
        {
            "Effect": "Allow",
            "Principal": {"Service": "ssm.amazonaws.com"},
            "Action": ["sts:AssumeRole"],
            "Condition": {
                "StringEquals": {"aws:SourceAccount": "000000000000"},
                "ArnEquals": {"aws:SourceArn": "arn:aws:ssm:us-east-1:000000000000:*"},
            },
        }
    ]
    statements = json.loads(recording.one(POLICY).inputs["policy"])["Statement"]
    assert {each["Sid"]: (each["Action"], each["Resource"]) for each in statements} == {
        "Cluster": (
            ["eks:DescribeCluster", "eks:ListAccessEntries"],
            "arn:aws:eks:us-east-1:000000000000:cluster/fleet",
        ),
        "Look": (["ssm:DescribeInstanceInformation"], "*"),
        "Leave": (["ssm:DeregisterManagedInstance"], "arn:aws:ssm:us-east-1:000000000000:managed-instance/*"),
    }
    assert statements[2]["Condition"] == {"StringEquals": {"ssm:resourceTag/eks-cluster": "fleet"}}
    assert {inputs["policyArn"] for inputs in recording.inputs(ATTACHMENT).values()} == {
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
        "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore",
    }


def test_the_cluster_knows_the_role(preview):
    assert build(preview).inputs(ENTRY) == {
        "own-access": {
            "clusterName": "fleet",
            "principalArn": known(f"{ARN}own-role", preview),
            "type": "HYBRID_LINUX",
            "tags": named("own-access"),
        }
    }


def test_certificates(preview):
    pem = certificate()
    recording = build(preview, credentials="roles-anywhere", certificate_authority=pem)
    assert recording.inputs(ANCHOR) == {
        "own-anchor": {
            "enabled": True,
            "source": {"sourceType": "CERTIFICATE_BUNDLE", "sourceData": {"x509CertificateData": pem}},
            "tags": named("own-anchor"),
        }
    }
    assert recording.inputs(PROFILE) == {
        "own-profile": {
            "enabled": True,
            "acceptRoleSessionName": True,
            "roleArns": [known(f"{ARN}own-role", preview)],
            "tags": named("own-profile"),
        }
    }
    assert recording.names(ACTIVATION) == []
    attached = [inputs["policyArn"] for inputs in recording.inputs(ATTACHMENT).values()]
    assert attached == ["arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly"]
    if preview:
        return
    anchored = {"ArnEquals": {"aws:SourceArn": f"{ARN}own-anchor"}}
    statements = json.loads(recording.one(ROLE).inputs["assumeRolePolicy"])["Statement"]
    assert [(each["Action"], each["Condition"]) for each in statements] == [
        (["sts:TagSession", "sts:SetSourceIdentity"], anchored),
        (
            ["sts:AssumeRole"],
            {"StringEquals": {"sts:RoleSessionName": "${aws:PrincipalTag/x509Subject/CN}"}, **anchored},
        ),
    ]
    assert {each["Principal"]["Service"] for each in statements} == {"rolesanywhere.amazonaws.com"}
    assert [each["Sid"] for each in json.loads(recording.one(POLICY).inputs["policy"])["Statement"]] == ["Cluster"]


def test_what_a_server_joins_with_is_secret(preview):
    credentials = build(preview).outputs["own"]["credentials"]
    if preview:
        assert credentials == UNKNOWN
        return
    assert credentials == Secret({"activation_id": "own-activation-id", "activation_code": "code-of-own-activation"})
    certified = build(preview, credentials="roles-anywhere", certificate_authority=certificate())
    assert certified.outputs["own"]["credentials"] == Secret(
        {
            "trust_anchor_arn": f"{ARN}own-anchor",
            "profile_arn": f"{ARN}own-profile",
            "role_arn": f"{ARN}own-role",
        }
    )


LAST = TODAY + timedelta(days=30)
REFUSED: dict[str, tuple[dict[str, object], list[str]]] = {
    "an activation that has ended": (
        {"activation_expires": "2026-11-01"},
        [
            "activation_expires=2026-11-01: has passed, so no server can join with this activation; give a day up to "
            f"{LAST}, or leave it out: servers that have joined stay [aws-hybrid-activation-expires]"
        ],
    ),
    "both kinds of credentials": (
        {"certificate_authority": certificate()},
        [
            "certificate_authority=given: is of no use with credentials=ssm, and both kinds at once are not supported; "
            "leave it out, or set credentials=roles-anywhere [aws-hybrid-credentials]"
        ],
    ),
    "a server's certificate, networks that overlap, and an unknown region": (
        {
            "region": "us-east1",
            "credentials": "roles-anywhere",
            "certificate_authority": certificate("gpu-1", authority=False),
            "remote_networks": {"nodes": [NODES], "pods": ["10.80.0.0/16"]},
            "vpc_cidr": "10.0.0.0/8",
        },
        [
            "region=us-east1: is not a region code; did you mean us-east-1? [aws-region-known]",
            "remote_networks.pods=10.80.0.0/16: overlaps remote_networks.nodes=10.80.0.0/24; give each its own "
            "range [aws-hybrid-ranges-apart]",
            "remote_networks.nodes=10.80.0.0/24: overlaps vpc_cidr=10.0.0.0/8; give each its own range "
            "[aws-hybrid-ranges-apart]",
            "remote_networks.pods=10.80.0.0/16: overlaps vpc_cidr=10.0.0.0/8; give each its own range "
            "[aws-hybrid-ranges-apart]",
            "certificate_authority=given: is not the certificate of an authority; give that of the authority (CA:TRUE; "
            "openssl x509 -in ca.pem -noout -text shows it), not a server's own [aws-hybrid-certificate]",
        ],
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refuses(case, preview):
    changes, lines = REFUSED[case]
    args = cast(HybridNodesArgs, {**BASE, **changes})
    assert refusal(lambda: HybridNodes("own", args), preview) == [f"own: {line}" for line in lines]
