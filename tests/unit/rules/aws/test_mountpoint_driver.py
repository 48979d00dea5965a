"""Cases of gpufleet.rules.aws.mountpoint_driver."""

import pytest

from gpufleet.rules.aws.bucket_path import bucket_and_prefix
from gpufleet.rules.aws.mountpoint_driver import driver_version, mounted_bucket

_PATH = "is not a path of S3; write s3://bucket or s3://bucket/prefix [aws-mountpoint-bucket]"
_OLD = "is not a version with EKS Pod Identity; use v2.0.0-eksbuild.1 or later [aws-mountpoint-version]"
CASES = {
    mounted_bucket: [
        ("bucket", {"bucket": "s3://images"}, "pass", ""),
        ("prefix", {"bucket": "s3://images/train/2026"}, "pass", ""),
        ("slash", {"bucket": "s3://images/train/"}, "pass", ""),
        ("short", {"bucket": "s3://abc"}, "pass", ""),
        ("too-short", {"bucket": "s3://ab"}, "fail", f"trainers: buckets=s3://ab: {_PATH}"),
        ("name", {"bucket": "images"}, "fail", f"trainers: buckets=images: {_PATH}"),
        ("wild", {"bucket": "s3://images/*"}, "fail", f"trainers: buckets=s3://images/*: {_PATH}"),
        (
            "directory",
            {"bucket": "s3://images--use1-az1--x-s3"},
            "fail",
            "trainers: buckets=s3://images--use1-az1--x-s3: is a directory bucket, which this role cannot read; use a "
            "general one [aws-mountpoint-bucket]",
        ),
    ],
    driver_version: [
        ("least", {"version": "v2.0.0-eksbuild.1"}, "pass", ""),
        ("later", {"version": "v2.7.0-eksbuild.1"}, "pass", ""),
        ("tenth", {"version": "v10.0.0-eksbuild.1"}, "pass", ""),
        (
            "old",
            {"version": "v1.15.0-eksbuild.1"},
            "fail",
            f"trainers: addon_version=v1.15.0-eksbuild.1: {_OLD}",
        ),
        ("bare", {"version": "2.7.0"}, "fail", f"trainers: addon_version=2.7.0: {_OLD}"),
    ],
}


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("s3://images", ("images", "")),
        ("s3://images/", ("images", "")),
        ("s3://images/a/b", ("images", "a/b/")),
        ("s3://images/a/b/", ("images", "a/b/")),
    ],
)
def test_parts_of_a_path(path: str, parts: tuple[str, str]) -> None:
    assert bucket_and_prefix(path) == parts


def test_case(case):
    case.check()
