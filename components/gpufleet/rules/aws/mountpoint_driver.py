"""Rules on buckets that pods mount by Mountpoint for Amazon S3."""

import re
from collections.abc import Mapping

from gpufleet.rules import coerce
from gpufleet.rules.aws.bucket_path import BUCKET_NAME, bucket_and_prefix
from gpufleet.rules.aws.zones import validate_region
from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule
from gpufleet.rules.tags import validate_tags

_PATH = re.compile(rf"s3://{BUCKET_NAME}(/[^\s*?,]*)?")


@rule("aws-mountpoint-bucket", Severity.ERROR)
def mounted_bucket(*, bucket: str) -> Outcome:
    """A bucket that pods mount is a general purpose bucket, as s3://bucket or s3://bucket/prefix.

    Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html: a directory bucket's name ends
    with --x-s3; github.com/awslabs/mountpoint-s3 v1.23.0, doc/CONFIGURATION.md: its sessions (s3express:CreateSession)
    also write.
    """
    if not _PATH.fullmatch(bucket):
        return failed("buckets", bucket, "is not a path of S3", "write s3://bucket or s3://bucket/prefix")
    if bucket_and_prefix(bucket)[0].endswith("--x-s3"):
        return failed("buckets", bucket, "is a directory bucket, which this role cannot read", "use a general one")
    return passed()


@rule("aws-mountpoint-version", Severity.ERROR)
def driver_version(*, version: str) -> Outcome:
    """The driver's version is 2.0 or later, which takes its role by EKS Pod Identity.

    Source: github.com/awslabs/mountpoint-s3-csi-driver v2.7.0, README.md: v2 introduces EKS Pod Identity support.
    """
    found = re.fullmatch(r"v(\d+)\.\d+\.\d+-eksbuild\.\d+", version)
    if found and int(found[1]) >= 2:
        return passed()
    return failed("addon_version", version, "is not a version with EKS Pod Identity", "use v2.0.0-eksbuild.1 or later")


def validate_mountpoint_driver(args: Mapping[str, object]) -> list[Finding]:
    """Every finding on the driver. Reads buckets, addon_version, region, tags."""
    version = coerce.text(args, "addon_version")
    return [
        *(mounted_bucket(bucket=bucket) for bucket in coerce.texts(args, "buckets")),
        *([driver_version(version=version)] if version else []),
        validate_region(coerce.text(args, "region")),
        *validate_tags(coerce.mapping(args, "tags")),
    ]
