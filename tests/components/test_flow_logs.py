"""Flow logs: off unless asked for, and never more rights than to write them."""

from gpufleet.aws.network import Network, NetworkArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, construct

ZONES = ["use1-az1", "use1-az2"]
TAGS = {"owner": "ml", "project": "speech", **MARK}
ARN = "arn:aws:mock::000000000000:"


def build(preview: bool, **more: object) -> Recording[Network]:
    args: NetworkArgs = {"region": "us-east-1", "zones": ZONES, "tags": TAGS}
    args.update(more)  # type: ignore[typeddict-item]
    return construct(lambda: Network("net", args), preview)


def id_of(name: str, preview: bool) -> str:
    return UNKNOWN if preview else f"{name}-id"


def named(name: str, **more: str) -> dict[str, str]:
    return {**TAGS, "Name": name, **more}


def test_flow_logs_are_off_by_default(preview):
    assert build(preview).names("aws:ec2/flowLog:FlowLog") == []


def test_flow_logs(preview):
    recording = build(preview, flow_logs=True, flow_log_retention_days=7.0)
    assert recording.inputs("aws:ec2/flowLog:FlowLog") == {
        "net-flow-logs-all": {
            "vpcId": id_of("net-vpc", preview),
            "trafficType": "ALL",
            "iamRoleArn": UNKNOWN if preview else f"{ARN}net-flow-logs-role",
            "logDestination": UNKNOWN if preview else f"{ARN}net-flow-logs",
            "tags": named("net-flow-logs-all"),
        }
    }
    assert recording.inputs("aws:cloudwatch/logGroup:LogGroup") == {
        "net-flow-logs": {"retentionInDays": 7, "tags": named("net-flow-logs")}
    }
    assert recording.inputs("aws:iam/role:Role") == {
        "net-flow-logs-role": {
            "assumeRolePolicy": UNKNOWN
            if preview
            else '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": '
            '{"Service": "vpc-flow-logs.amazonaws.com"}, "Action": ["sts:AssumeRole"], '
            '"Condition": {"StringEquals": {"aws:SourceAccount": "000000000000"}}}]}',
            "tags": named("net-flow-logs-role"),
        }
    }
    assert recording.inputs("aws:iam/rolePolicy:RolePolicy") == {
        "net-flow-logs-write": {
            "role": UNKNOWN if preview else "net-flow-logs-role",
            "policy": UNKNOWN
            if preview
            else '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": ["logs:CreateLogStream", '
            f'"logs:DescribeLogStreams", "logs:PutLogEvents"], "Resource": "{ARN}net-flow-logs:*"}}]}}',
        }
    }


def test_flow_logs_may_have_a_key(preview):
    recording = build(preview, flow_logs=True, flow_log_kms_key_arn="arn:key")
    assert recording.one("aws:cloudwatch/logGroup:LogGroup").inputs["kmsKeyId"] == "arn:key"
