"""ARNs of AWS's own policies, by partition."""

import pytest

from gpufleet.aws.partition import managed_policy, partition


@pytest.mark.parametrize(
    ("region", "expected"),
    [("us-east-1", "aws"), ("eu-central-1", "aws"), ("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov")],
)
def test_partition(region, expected):
    assert partition(region) == expected
    assert managed_policy(region, "X") == f"arn:{expected}:iam::aws:policy/X"
