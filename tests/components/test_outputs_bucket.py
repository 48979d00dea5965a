"""OutputsBucket: exact inputs of every child."""

import json
from typing import cast

import pytest

from gpufleet.aws.outputs_bucket import OutputsBucket, OutputsBucketArgs
from tests.components.recorder import MARK, UNKNOWN, Recording, construct, refusal

BUCKET = "aws:s3/bucket:Bucket"
PRIVATE = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
OWNER = "aws:s3/bucketOwnershipControls:BucketOwnershipControls"
POLICY = "aws:s3/bucketPolicy:BucketPolicy"
ENCRYPTION = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
VERSIONING = "aws:s3/bucketVersioning:BucketVersioning"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
LOGGING = "aws:s3/bucketLogging:BucketLogging"
UNFINISHED = {"id": "unfinished", "abortIncompleteMultipartUpload": {"daysAfterInitiation": 7}}


def build(preview: bool, /, **changes: object) -> Recording[OutputsBucket]:
    args = cast(OutputsBucketArgs, {"tags": {"owner": "ml"}, **changes})
    return construct(lambda: OutputsBucket("outputs", args), preview)


def rules(recording: Recording[OutputsBucket]) -> list[object]:
    return cast("list[object]", recording.one(LIFECYCLE).inputs["rules"])


def enabled(*rules: dict[str, object]) -> list[object]:
    return [{**rule, "status": "Enabled", "filter": {"prefix": ""}} for rule in rules]


def test_plain_bucket(preview: bool) -> None:
    recording = build(preview)
    name = UNKNOWN if preview else "outputs-bucket-1234567"
    assert {each.type: each.inputs for each in recording.resources if each.custom and each.type != POLICY} == {
        BUCKET: {"forceDestroy": False, "tags": {"owner": "ml", **MARK, "Name": "outputs-bucket"}},
        PRIVATE: {
            "bucket": name,
            "blockPublicAcls": True,
            "blockPublicPolicy": True,
            "ignorePublicAcls": True,
            "restrictPublicBuckets": True,
        },
        OWNER: {"bucket": name, "rule": {"objectOwnership": "BucketOwnerEnforced"}},
        ENCRYPTION: {
            "bucket": name,
            "rules": [
                {"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}, "bucketKeyEnabled": False},
            ],
        },
        LIFECYCLE: {"bucket": name, "rules": enabled(UNFINISHED)},
    }


def test_policy_denies_whatever_comes_without_tls_and_allows_nothing() -> None:
    policy = json.loads(str(build(False).one(POLICY).inputs["policy"]))
    arn = "arn:aws:mock::000000000000:outputs-bucket"
    assert policy["Statement"] == [
        {
            "Sid": "TlsOnly",
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, f"{arn}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
    ]


def test_access_is_changed_in_one_order(preview: bool) -> None:
    """S3 refuses two changes of a bucket's access at a time."""
    recording = build(preview)
    assert "outputs-private" in recording.one(OWNER).property_dependencies["bucket"]
    assert "outputs-owner" in recording.one(POLICY).property_dependencies["bucket"]


def test_outputs_expire_and_old_versions_go(preview: bool) -> None:
    recording = build(preview, expire_days=90.0, versioning=True)
    assert rules(recording) == enabled(
        UNFINISHED,
        {"id": "expired", "expiration": {"days": 90}},
        {"id": "overwritten", "noncurrentVersionExpiration": {"noncurrentDays": 30}},
    )
    assert recording.one(VERSIONING).inputs["versioningConfiguration"] == {"status": "Enabled"}
    assert "outputs-versioning" in recording.one(LIFECYCLE).property_dependencies["bucket"]


def test_zero_days_are_never(preview: bool) -> None:
    recording = build(preview, expire_days=0)
    assert rules(recording) == enabled(UNFINISHED)
    assert recording.names(VERSIONING) == []


def test_own_key(preview: bool) -> None:
    (rule,) = cast("list[object]", build(preview, kms_key_arn="key").one(ENCRYPTION).inputs["rules"])
    by_default = {"sseAlgorithm": "aws:kms", "kmsMasterKeyId": "key"}
    assert rule == {"applyServerSideEncryptionByDefault": by_default, "bucketKeyEnabled": True}


def test_accesses_are_recorded_in_a_bucket_of_their_own(preview: bool) -> None:
    recording = build(preview, access_logs=True, kms_key_arn="key", expire_days=365)
    outputs, record = (
        UNKNOWN if preview else f"{each}-1234567" for each in ("outputs-bucket", "outputs-access-logs-bucket")
    )
    assert recording.one(LOGGING, "outputs-access-logs-of-outputs").inputs == {
        "bucket": outputs,
        "targetBucket": record,
        "targetPrefix": "outputs/",
    }
    assert "outputs-access-logs-policy" in recording.one(LOGGING).property_dependencies["targetBucket"]
    assert {each.type: each.inputs for each in recording.resources if each.name.startswith("outputs-access-logs-")} == {
        BUCKET: {"forceDestroy": False, "tags": {"owner": "ml", **MARK, "Name": "outputs-access-logs-bucket"}},
        PRIVATE: {**recording.one(PRIVATE, "outputs-private").inputs, "bucket": record},
        OWNER: {**recording.one(OWNER, "outputs-owner").inputs, "bucket": record},
        POLICY: recording.one(POLICY, "outputs-access-logs-policy").inputs,
        # With a KMS key nothing is delivered.
        ENCRYPTION: {
            "bucket": record,
            "rules": [
                {"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}, "bucketKeyEnabled": False},
            ],
        },
        LIFECYCLE: {"bucket": record, "rules": enabled(UNFINISHED, {"id": "expired", "expiration": {"days": 90}})},
        LOGGING: recording.one(LOGGING).inputs,
    }


def test_policy_lets_the_log_delivery_of_the_one_bucket_in() -> None:
    recording = build(False, access_logs=True)
    policy = json.loads(str(recording.one(POLICY, "outputs-access-logs-policy").inputs["policy"]))
    tls_only, delivery = policy["Statement"]
    arn = "arn:aws:mock::000000000000:outputs-access-logs-bucket"
    assert tls_only["Resource"] == [arn, f"{arn}/*"]
    assert delivery == {
        "Sid": "AccessLogs",
        "Effect": "Allow",
        "Principal": {"Service": "logging.s3.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": f"{arn}/*",
        "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:mock::000000000000:outputs-bucket"}},
    }


def test_prefix(preview: bool) -> None:
    assert build(preview, bucket_prefix="vision-").one(BUCKET).inputs["bucketPrefix"] == "vision-"


@pytest.mark.parametrize("erase", [False, True])
def test_outputs_outlive_the_fleet_unless_told_otherwise(erase: bool, preview: bool) -> None:
    recording = build(preview, erase=erase, versioning=True, access_logs=True)
    assert {each.protect for each in recording.resources if each.custom} == {not erase}
    assert [each.inputs["forceDestroy"] for each in recording.of(BUCKET)] == [erase, erase]


def test_refuses_with_every_fault_at_once(preview: bool) -> None:
    args = cast(OutputsBucketArgs, {"bucket_prefix": "Vision.", "expire_days": -1})
    assert refusal(lambda: OutputsBucket("outputs", args), preview) == [
        "outputs: bucket_prefix=Vision.: is not a valid bucket name prefix; use 1 to 37 lower-case letters, digits "
        "and -, "
        "such as vision-outputs- [aws-outputs-prefix]",
        "outputs: expire_days=-1: is below 0; use 0 or more [any-argument-least]",
    ]
