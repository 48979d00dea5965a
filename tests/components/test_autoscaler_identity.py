"""The rights of the cluster autoscaler: exact policy, one service account."""

import json

from gpufleet.aws.autoscaler_identity import NAMESPACE, SERVICE_ACCOUNT, AutoscalerIdentity, autoscaler_policy
from gpufleet.kubernetes import autoscaler
from tests.components.recorder import MARK, UNKNOWN, construct, refusal

ARGS = {"cluster_name": "train", "region": "us-east-1", "tags": {"owner": "ml"}}
ARN = "arn:aws:mock::000000000000:"


def test_role_policy_and_association(preview):
    recording = construct(lambda: AutoscalerIdentity("scaler", ARGS), preview)
    role = recording.one("aws:iam/role:Role", "scaler-role").inputs
    trust = json.loads(role["assumeRolePolicy"])["Statement"]
    assert [each["Principal"] for each in trust] == [{"Service": "pods.eks.amazonaws.com"}]
    assert recording.one("aws:iam/rolePolicy:RolePolicy", "scaler-policy").inputs == {
        "role": UNKNOWN if preview else "scaler-role",
        "policy": autoscaler_policy("train", "us-east-1"),
    }
    association = recording.one("aws:eks/podIdentityAssociation:PodIdentityAssociation", "scaler-association")
    assert association.inputs == {
        "clusterName": "train",
        "namespace": "kube-system",
        "serviceAccount": "cluster-autoscaler",
        "roleArn": UNKNOWN if preview else f"{ARN}scaler-role",
        "tags": {"owner": "ml", **MARK, "Name": "scaler-association"},
    }
    assert association.property_dependencies["roleArn"] == {"scaler-role", "scaler-policy"}
    assert recording.outputs["scaler"]["cluster_name"] == "train"


def test_it_changes_groups_of_its_cluster_only():
    statements = json.loads(autoscaler_policy("train", "cn-north-1"))["Statement"]
    assert {statement["Effect"] for statement in statements} == {"Allow"}
    free = [
        action
        for each in statements
        if each["Resource"] == "*" and "Condition" not in each
        for action in each["Action"]
    ]
    assert all(action.partition(":")[2].startswith(("Describe", "Get")) for action in free)
    (scale,) = [each for each in statements if "Condition" in each]
    assert scale["Condition"] == {"StringEquals": {"aws:ResourceTag/k8s.io/cluster-autoscaler/train": "owned"}}
    assert scale["Action"] == ["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"]
    groups, scaled = [each["Resource"] for each in statements if each["Resource"] != "*"]
    assert groups == "arn:aws-cn:eks:cn-north-1:*:nodegroup/train/*"
    assert scaled == "arn:aws-cn:autoscaling:cn-north-1:*:autoScalingGroup:*:autoScalingGroupName/*"


def test_the_chart_uses_the_account_that_has_the_rights():
    assert (autoscaler.NAMESPACE, autoscaler.SERVICE_ACCOUNT) == (NAMESPACE, SERVICE_ACCOUNT)


def test_refuses(preview):
    args = ARGS | {"region": "us-east1", "tags": {"aws:x": "y"}}
    lines = refusal(lambda: AutoscalerIdentity("scaler", args), preview)
    assert [line.rpartition(" ")[2] for line in lines] == ["[aws-region-known]", "[aws-tag-key]"]
