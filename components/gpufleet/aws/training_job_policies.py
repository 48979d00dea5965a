"""What a job of Batch may do, and what its container's start may: IAM policies as plain JSON."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpufleet.aws.partition import partition

_OBJECTS = ("s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts")
"""Read and write, also in parts. Not delete: what a job wrote, no other job of the role takes away."""


def bucket_statements(arn: str, prefixes: Sequence[str], kms_key_arn: str | None) -> list[dict[str, Any]]:
    """Rights on the folders ``prefixes`` of a bucket and nothing else of it; and on its key, through S3 only."""
    statements: list[dict[str, Any]] = [
        {
            "Sid": "List",
            "Effect": "Allow",
            "Action": ["s3:ListBucket"],
            "Resource": arn,
            "Condition": {"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in prefixes]}},
        },
        {
            "Sid": "ReadAndWrite",
            "Effect": "Allow",
            "Action": list(_OBJECTS),
            "Resource": [f"{arn}/{prefix}*" for prefix in prefixes],
        },
    ]
    if kms_key_arn is not None:
        statements.append(
            {
                "Sid": "Key",
                "Effect": "Allow",
                "Action": ["kms:Decrypt", "kms:GenerateDataKey"],
                "Resource": kms_key_arn,
                "Condition": {"StringLike": {"kms:ViaService": "s3.*.amazonaws.com*"}},
            }
        )
    return statements


def files_statement(region: str, file_system_id: str, access_point_id: str | None) -> dict[str, Any]:
    """The right to mount and write one file system, through one access point where there is one.

    The account is left open: the id of a file system is unique, and nothing here knows the account.
    https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html
    """
    arn = f"arn:{partition(region)}:elasticfilesystem:{region}:*"
    statement: dict[str, Any] = {
        "Sid": "Mount",
        "Effect": "Allow",
        "Action": ["elasticfilesystem:ClientMount", "elasticfilesystem:ClientWrite"],
        "Resource": f"{arn}:file-system/{file_system_id}",
    }
    if access_point_id is not None:
        point = f"{arn}:access-point/{access_point_id}"
        statement["Condition"] = {"ArnLike": {"elasticfilesystem:AccessPointArn": point}}
    return statement


def start_policy(
    log_group_arn: str, secrets: Mapping[str, str], caches: Mapping[str, Any] | None, own: Sequence[str] = ()
) -> str:
    """The policy (JSON) of the execution role: open log streams, and read the secrets of the job, name to ARN.

    caches: the statement on pull-through caches, None without any. own: ARNs of what submissions may name besides.

    https://docs.aws.amazon.com/batch/latest/userguide/execution-IAM-role.html
    """
    statements: list[dict[str, Any]] = [
        {
            "Sid": "Log",
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": f"{log_group_arn}:*",
        }
    ]
    whole = [*(_without_key(arn) for arn in secrets.values()), *own]
    for sid, service, action in (
        ("Secrets", "secretsmanager", "secretsmanager:GetSecretValue"),
        ("Parameters", "ssm", "ssm:GetParameters"),
    ):
        arns = sorted({arn for arn in whole if arn.split(":")[2:3] == [service]})
        if arns:
            statements.append({"Sid": sid, "Effect": "Allow", "Action": [action], "Resource": arns})
    return policy([*statements, caches] if caches else statements)


def environment_secrets(region: str, prefix: str) -> list[str]:
    """ARNs of the secrets and the parameters whose names begin with a prefix, such as gpufleet/dev/.

    The account is left open, as nothing here knows it: the role reaches no other's without that one's consent.
    """
    names = f"arn:{partition(region)}"
    return [
        f"{names}:secretsmanager:{region}:*:secret:{prefix}*",
        f"{names}:ssm:{region}:*:parameter/{prefix}*",
    ]


def policy(statements: Iterable[Mapping[str, Any]]) -> str:
    """A policy document (JSON) of these statements."""
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


def _without_key(arn: str) -> str:
    """The ARN of a secret without the key of its JSON, version stage and version id, which a reference may add."""
    return ":".join(arn.split(":")[:7])
