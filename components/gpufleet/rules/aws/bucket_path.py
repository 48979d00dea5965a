"""Paths of S3, as s3://bucket or s3://bucket/prefix."""

BUCKET_NAME = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
"""docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""


def bucket_and_prefix(path: str) -> tuple[str, str]:
    """The bucket and the prefix, which ends with / or is empty."""
    bucket, _, prefix = path.removeprefix("s3://").partition("/")
    prefix = prefix.strip("/")
    return bucket, f"{prefix}/" if prefix else ""
