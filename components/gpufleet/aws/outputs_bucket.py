"""OutputsBucket: where checkpoints, models and results of jobs go."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import s3

from gpufleet.aws.links import JobBucket
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.pulumi_outputs import with_dependencies
from gpufleet.rules import Finding, validate_outputs_bucket
from gpufleet.rules.access_logs import KEPT_DAYS

UNFINISHED_DAYS = 7
"""Days after which the parts of an upload that was never finished go; they are billed and nothing lists them."""
OLD_VERSION_DAYS = 30
"""Days after which a version that was overwritten or deleted goes."""


class OutputsBucketConfig(TypedDict):
    """How long outputs stay, and how they are encrypted."""

    bucket_prefix: NotRequired[str]
    """How the bucket's name begins, for instance vision-outputs-. Default: the name of the component. A change
    replaces the bucket; a protected bucket cannot be replaced."""
    expire_days: NotRequired[int]
    """Days after which an output goes; 0 = never. Default: never."""
    versioning: NotRequired[bool]
    """Keep what was overwritten or deleted for 30 days more. Default false: checkpoints are large and many."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """Key for encryption at rest. Default: AES-256 with a key of S3."""


class OutputsBucketArgs(OutputsBucketConfig):
    """The same, and whether outputs outlive the rest."""

    erase: NotRequired[bool]
    """True: destroy deletes the bucket with all that is in it, once an up has recorded it. Default false: bucket and
    what governs it are protected."""
    access_logs: NotRequired[bool]
    """Record who reads and writes the bucket (server access logs), in its own bucket, for 90 days. S3 delivers
    within hours, and most records, not all. Default false: what is stored is paid for."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


def bucket_policy(bucket_arn: str, logged_arn: str | None = None) -> str:
    """Bucket policy (JSON): nobody reaches the bucket without TLS, and nobody gets a right by it but S3's log delivery.

    logged_arn: the bucket whose access logs go into this one; None: no logs do.
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/security-best-practices.html and
    https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
    """
    tls_only = {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [bucket_arn, f"{bucket_arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    delivery = {
        "Sid": "AccessLogs",
        "Effect": "Allow",
        "Principal": {"Service": "logging.s3.amazonaws.com"},
        "Action": "s3:PutObject",
        "Resource": f"{bucket_arn}/*",
        "Condition": {"ArnLike": {"aws:SourceArn": logged_arn}},
    }
    statements = [tls_only] if logged_arn is None else [tls_only, delivery]
    return json.dumps({"Version": "2012-10-17", "Statement": statements})


def lifecycle(expire_days: int, versioning: bool) -> list[dict[str, Any]]:
    """The bucket's lifecycle rules: what is unfinished, expired or overwritten goes."""
    rules: list[dict[str, Any]] = [
        {"id": "unfinished", "abort_incomplete_multipart_upload": {"days_after_initiation": UNFINISHED_DAYS}}
    ]
    if expire_days:
        rules.append({"id": "expired", "expiration": {"days": expire_days}})
    if versioning:
        rules.append({"id": "overwritten", "noncurrent_version_expiration": {"noncurrent_days": OLD_VERSION_DAYS}})
    # An empty filter means every object.
    return [{**rule, "status": "Enabled", "filter": {"prefix": ""}} for rule in rules]


class OutputsBucket(Component):
    """An encrypted bucket without public access that accepts only TLS connections.

    Data outlives compute: bucket and what governs it are protected, so that ``pulumi destroy --exclude-protected``
    keeps them in the state and the next ``up`` continues with the same outputs.
    """

    bucket_name: pulumi.Output[str]
    """Its name."""
    bucket_arn: pulumi.Output[str]
    """ARN of the bucket, for policies."""

    def __init__(
        self, name: str, args: OutputsBucketArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[OutputsBucketArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: OutputsBucketArgs) -> list[Finding]:
        return validate_outputs_bucket(args)

    def create(self, name: str, args: OutputsBucketArgs) -> None:
        erase = bool(args.get("erase", False))
        kept = self.child(protect=not erase)
        bucket = s3.Bucket(
            f"{name}-bucket",
            bucket_prefix=args.get("bucket_prefix"),
            # Without it S3 refuses to delete a bucket that holds objects.
            force_destroy=erase,
            tags=self.tags(f"{name}-bucket"),
            opts=kept,
        )
        self._close(name, bucket, bucket.arn.apply(bucket_policy), kept)
        self._encrypt(name, bucket, args.get("kms_key_arn"), kept)
        self._lifecycle(name, bucket, int(args.get("expire_days", 0)), bool(args.get("versioning", False)), kept)
        if args.get("access_logs", False):
            self._access_logs(f"{name}-access-logs", bucket, erase, kept)
        self.bucket_name = bucket.bucket
        self.bucket_arn = bucket.arn

    def for_jobs(self, prefixes: Sequence[str]) -> JobBucket:
        """Folders of the bucket that a job reads and writes, each ending in a slash, with the key that they need."""
        key = self.args.get("kms_key_arn")
        bucket: JobBucket = {"arn": self.bucket_arn, "prefixes": prefixes}
        return bucket if key is None else {**bucket, "kms_key_arn": key}

    def _access_logs(self, name: str, logged: "s3.Bucket", erase: bool, kept: pulumi.ResourceOptions) -> None:
        """A bucket for the record of who reads and writes the other, as S3 delivers to: with a key of S3's own.

        With a KMS key as default S3 takes the configuration and delivers nothing: aws-cloudformation/
        cloudformation-cli#986. ACLs stay off, so that a policy lets the service in: aws/aws-cdk#22183.
        """
        bucket = s3.Bucket(f"{name}-bucket", force_destroy=erase, tags=self.tags(f"{name}-bucket"), opts=kept)
        policy = pulumi.Output.all(bucket.arn, logged.arn).apply(lambda arns: bucket_policy(*arns))
        closed = self._close(name, bucket, policy, kept)
        self._encrypt(name, bucket, None, kept)
        self._lifecycle(name, bucket, KEPT_DAYS, False, kept)
        s3.BucketLogging(
            f"{name}-of-outputs",
            bucket=logged.bucket,
            # S3 does not deliver before the policy lets it.
            target_bucket=with_dependencies(bucket.bucket, closed),
            target_prefix="outputs/",
            opts=kept,
        )

    def _close(
        self, name: str, bucket: "s3.Bucket", policy: pulumi.Output[str], kept: pulumi.ResourceOptions
    ) -> "s3.BucketPolicy":
        """No public access, no lists of access beside the policy."""
        block = s3.BucketPublicAccessBlock(
            f"{name}-private",
            bucket=bucket.bucket,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=kept,
        )
        owner = s3.BucketOwnershipControls(
            f"{name}-owner",
            # One change of a bucket's access at a time: S3 answers OperationAborted to the second.
            bucket=with_dependencies(bucket.bucket, block),
            rule=s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=kept,
        )
        return s3.BucketPolicy(
            f"{name}-policy", bucket=with_dependencies(bucket.bucket, owner), policy=policy, opts=kept
        )

    def _encrypt(
        self, name: str, bucket: "s3.Bucket", key: pulumi.Input[str] | None, kept: pulumi.ResourceOptions
    ) -> None:
        by_default = s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
            sse_algorithm="AES256" if key is None else "aws:kms", kms_master_key_id=key
        )
        s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption",
            bucket=bucket.bucket,
            rules=[
                s3.BucketServerSideEncryptionConfigurationRuleArgs(
                    apply_server_side_encryption_by_default=by_default,
                    # One call of KMS for many objects instead of one for each.
                    bucket_key_enabled=key is not None,
                )
            ],
            opts=kept,
        )

    def _lifecycle(
        self, name: str, bucket: "s3.Bucket", days: int, versioning: bool, kept: pulumi.ResourceOptions
    ) -> None:
        governed = bucket.bucket
        if versioning:
            on = s3.BucketVersioning(
                f"{name}-versioning",
                bucket=bucket.bucket,
                versioning_configuration=s3.BucketVersioningVersioningConfigurationArgs(status="Enabled"),
                opts=kept,
            )
            governed = with_dependencies(governed, on)
        s3.BucketLifecycleConfiguration(
            f"{name}-lifecycle",
            bucket=governed,
            rules=[s3.BucketLifecycleConfigurationRuleArgs(**each) for each in lifecycle(days, versioning)],
            opts=kept,
        )
