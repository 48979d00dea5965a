"""The door for GPU pools: names and kinds of a component's arguments, then every rule on the pool's intent."""

from collections.abc import Mapping

from gpufleet.pools.eks_pool import EksPool
from gpufleet.rules.arguments import validate_arguments
from gpufleet.rules.aws.pool_arguments import validate_intent
from gpufleet.rules.rule import Finding


def validate_pool(pool: Mapping[str, object], region: str, declared: type = EksPool) -> list[Finding]:
    """Every finding on a pool, passes included. Never raises, whatever the values.

    `declared` is the TypedDict that declares the arguments, when a component adds fields to those of `EksPool`: names
    and kinds are judged by it.
    """
    return [*validate_arguments(pool, declared), *validate_intent(pool, region)]
