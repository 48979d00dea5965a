"""Which of AWS's partitions a region lies in: ARNs and service names differ there."""


def partition(region: str) -> str:
    """The partition that ARNs of ``region`` start with: aws, aws-cn or aws-us-gov."""
    if region.startswith("cn-"):
        return "aws-cn"
    return "aws-us-gov" if region.startswith("us-gov-") else "aws"


def managed_policy(region: str, name: str) -> str:
    """The ARN of a policy that AWS maintains, for instance ``AmazonEKSClusterPolicy``."""
    return f"arn:{partition(region)}:iam::aws:policy/{name}"
