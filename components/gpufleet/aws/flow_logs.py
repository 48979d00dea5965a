"""Flow logs: who talked to whom in a VPC, written to CloudWatch."""

# Signatures stay text: evaluated, they would load a whole service of the SDK.
from __future__ import annotations

import json

import pulumi
from pulumi_aws import cloudwatch, ec2, iam

from gpufleet.aws.iam_roles import trust_in_account
from gpufleet.component import Component


def flow_logs(
    name: str, parent: Component, network: ec2.Vpc, retention_days: int, kms_key_arn: pulumi.Input[str] | None
) -> None:
    """All flows of ``network`` into its own log group, kept for ``retention_days``."""
    child = f"{name}-flow-logs"
    group = cloudwatch.LogGroup(
        child,
        retention_in_days=retention_days,
        kms_key_id=kms_key_arn,
        tags=parent.tags(child),
        opts=parent.child(),
    )
    role = iam.Role(
        f"{child}-role",
        assume_role_policy=group.arn.apply(lambda arn: trust_in_account("vpc-flow-logs.amazonaws.com", arn)),
        tags=parent.tags(f"{child}-role"),
        opts=parent.child(),
    )
    iam.RolePolicy(f"{child}-write", role=role.name, policy=group.arn.apply(write_streams), opts=parent.child())
    ec2.FlowLog(
        f"{child}-all",
        vpc_id=network.id,
        traffic_type="ALL",
        iam_role_arn=role.arn,
        log_destination=group.arn,
        tags=parent.tags(f"{child}-all"),
        opts=parent.child(),
    )


def write_streams(log_group_arn: str) -> str:
    """A policy (JSON) to write into one log group. Without CreateLogGroup, so that destroy leaves no group behind.

    Source: docs.aws.amazon.com/vpc/latest/userguide/flow-logs-iam-role.html
    """
    statement = {
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
        "Resource": f"{log_group_arn}:*",
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})
