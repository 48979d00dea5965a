"""Buckets with a key of one's own, and whether the roles that write to them may use it."""

import json

import pytest

from gpufleet.policies.aws.bucket_keys import validate_bucket_keys
from gpufleet.rules import Status
from tests.policies.raw_program import plan_from

KEY = "arn:aws:kms:us-east-1:123456789012:key/own"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"


def encrypted(key: str | None, bucket: str = "${outputs.bucket}") -> dict:
    default = {"sseAlgorithm": "aws:kms" if key else "AES256", **({"kmsMasterKeyId": key} if key else {})}
    rules = [{"applyServerSideEncryptionByDefault": default}]
    return {"type": ENCRYPTION, "inputs": {"bucket": bucket, "rules": rules}}


def allowing(actions: list[str], resource: str) -> dict:
    document = {"Statement": [{"Effect": "Allow", "Action": actions, "Resource": resource}]}
    return {"type": "aws:iam/rolePolicy:RolePolicy", "inputs": {"role": "${role.name}", "policy": json.dumps(document)}}


PROGRAM = {
    "outputs": {"type": "aws:s3/bucket:Bucket", "inputs": {"bucket": "outputs"}},
    "encryption": encrypted(KEY),
    "role": {"type": "aws:iam/role:Role", "inputs": {"assumeRolePolicy": "{}"}},
    "writes": allowing(["s3:PutObject"], "arn:aws:s3:::outputs/jobs/*"),
}


def told(lacks: str) -> list[str]:
    return [
        f"role: policy=outputs: writes to outputs, whose key it may not use: it lacks {lacks}; allow that on the key "
        "(TrainingJob: bucket=outputs.for_jobs([...])), or in the key's policy [aws-outputs-key]"
    ]


@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({}, told("kms:GenerateDataKey and kms:Decrypt")),
        ({"more": allowing(["kms:GenerateDataKey"], KEY)}, told("kms:Decrypt")),
        ({"more": allowing(["kms:*"], KEY)}, []),
        ({"more": allowing(["kms:*"], KEY.replace("own", "other"))}, told("kms:GenerateDataKey and kms:Decrypt")),
        # The key's policy, an alias and another's policy may hold what is not seen here.
        ({"encryption": encrypted("arn:aws:kms:us-east-1:123456789012:alias/own")}, []),
        ({"encryption": encrypted(None)}, []),
        ({"encryption": encrypted(KEY, "others")}, []),
        ({"encryption": encrypted(KEY, "outputs")}, told("kms:GenerateDataKey and kms:Decrypt")),
        ({"writes": allowing(["s3:GetObject"], "arn:aws:s3:::outputs/jobs/*")}, []),
        ({"writes": allowing(["s3:PutObject"], "arn:aws:s3:::outputs-of-others/*")}, []),
    ],
)
def test_roles_that_write_to_an_encrypted_bucket(more: dict, lines: list[str]) -> None:
    found = validate_bucket_keys(plan_from(PROGRAM | more))
    assert [each.line for each in found if each.finding.status is not Status.PASS] == lines
