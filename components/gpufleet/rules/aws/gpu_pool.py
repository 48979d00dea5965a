"""Validation of an EKS GPU pool: names and kinds of its arguments, then every rule on their values."""

from collections.abc import Mapping

from gpufleet.pools.eks_pool import EksPool
from gpufleet.rules.arguments import validate_arguments
from gpufleet.rules.aws.pool_arguments import validate_pool_arguments
from gpufleet.rules.rule import Finding


def validate_pool(pool: Mapping[str, object], region: str) -> list[Finding]:
    """Every finding on a pool, passes included. Never raises, whatever the values."""
    return [*validate_arguments(pool, EksPool), *validate_pool_arguments(pool, region)]
