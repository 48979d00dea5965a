"""A workspace of Amazon's Prometheus: who writes to it, for how long it keeps what is written, and what is refused."""

import json
import re

from gpufleet.aws.iam_roles import trust_pods
from gpufleet.aws.managed_prometheus import ManagedPrometheus, write_policy
from gpufleet.dashboards.rules import recording_rules
from gpufleet.kubernetes.monitoring import CHART, plan_monitoring, plan_namespace
from gpufleet.kubernetes.remote_write import NAMESPACE, RECORDED, SERVICE_ACCOUNT
from tests.components.recorder import MARK, UNKNOWN, construct, refusal

ARGS = {"cluster_name": "train", "region": "us-east-1", "tags": {"owner": "ml"}}
ARN = "arn:aws:mock::000000000000:"


def test_workspace_is_protected_and_one_service_account_writes_to_it(preview):
    recording = construct(lambda: ManagedPrometheus("m", ARGS), preview)
    workspace = recording.one("aws:amp/workspace:Workspace", "m-workspace")
    assert workspace.inputs == {"alias": "m", "tags": {"owner": "ml", **MARK, "Name": "m-workspace"}}
    assert workspace.protect is True
    assert recording.of("aws:amp/workspaceConfiguration:WorkspaceConfiguration") == []
    assert recording.one("aws:iam/role:Role", "m-writer").inputs["assumeRolePolicy"] == trust_pods(
        "train", "monitoring", "kube-prometheus-stack-prometheus"
    )
    policy = recording.one("aws:iam/rolePolicy:RolePolicy", "m-writer-policy").inputs["policy"]
    assert policy == (UNKNOWN if preview else write_policy(f"{ARN}m-workspace"))
    association = recording.one("aws:eks/podIdentityAssociation:PodIdentityAssociation", "m-association")
    assert association.inputs == {
        "clusterName": "train",
        "namespace": "monitoring",
        "serviceAccount": "kube-prometheus-stack-prometheus",
        "roleArn": UNKNOWN if preview else f"{ARN}m-writer",
        "tags": {"owner": "ml", **MARK, "Name": "m-association"},
    }
    assert association.property_dependencies["roleArn"] == {"m-writer", "m-writer-policy"}


def test_retention_key_and_erasing(preview):
    key = "arn:aws:kms:us-east-1:123456789012:key/0a1b"
    args = {**ARGS, "retention_days": 400, "kms_key_arn": key, "erase": True}
    recording = construct(lambda: ManagedPrometheus("m", args), preview)
    workspace = recording.one("aws:amp/workspace:Workspace", "m-workspace")
    assert (workspace.inputs["kmsKeyArn"], workspace.protect) == (key, False)
    kept = recording.one("aws:amp/workspaceConfiguration:WorkspaceConfiguration", "m-configuration").inputs
    assert kept["retentionPeriodInDays"] == 400


def test_policy_writes_to_one_workspace():
    (statement,) = json.loads(write_policy("arn:aws:aps:us-east-1:1:workspace/ws-1"))["Statement"]
    assert statement["Action"] == ["aps:RemoteWrite"]
    assert statement["Resource"] == "arn:aws:aps:us-east-1:1:workspace/ws-1"


def test_prometheus_writes_what_our_rules_record_with_awss_signature():
    target = {"url": "https://example.com/api/v1/remote_write", "aws_region": "us-east-1"}
    values = plan_monitoring({"environment": "lab", "remote_write": target})
    (entry,) = values["prometheus"]["prometheusSpec"]["remoteWrite"]
    assert entry == {
        "url": "https://example.com/api/v1/remote_write",
        "sigv4": {"region": "us-east-1"},
        "writeRelabelConfigs": [{"sourceLabels": ["__name__"], "regex": RECORDED, "action": "keep"}],
    }
    rules = recording_rules("lab", {"h100": 6.88})["groups"][0]["rules"]
    assert [each["record"] for each in rules if not re.fullmatch(RECORDED, each["record"])] == []
    assert not re.fullmatch(RECORDED, "DCGM_FI_DEV_GPU_UTIL")
    unsigned = plan_monitoring({"environment": "lab", "remote_write": {"url": "https://example.com"}})
    assert "sigv4" not in unsigned["prometheus"]["prometheusSpec"]["remoteWrite"][0]


def test_the_chart_makes_the_account_that_has_the_rights():
    assert plan_namespace()["metadata"]["name"] == NAMESPACE
    assert f"{CHART}-prometheus" == SERVICE_ACCOUNT


def test_refuses(preview):
    args = ARGS | {"region": "us-east1", "retention_days": 1096, "tags": {"aws:x": "y"}}
    lines = refusal(lambda: ManagedPrometheus("m", args), preview)
    assert [line.rpartition(" ")[2] for line in lines] == [
        "[aws-prometheus-retention]",
        "[aws-region-known]",
        "[aws-tag-key]",
    ]
