"""The door for GPU pools: names and kinds of a component's arguments, then every rule on the pool's intent."""

from collections.abc import Mapping

from gpufleet.pool import Pool
from gpufleet.rules.arguments import judge_arguments
from gpufleet.rules.pool_intent import judge_intent
from gpufleet.rules.rule import Finding


def judge_pool(pool: Mapping[str, object], region: str, declared: type = Pool) -> list[Finding]:
    """Every finding on a pool, passes included. Never raises, whatever the values.

    `declared` is the TypedDict that declares the arguments, when a component adds fields to those of `Pool`: names
    and kinds are judged by it.
    """
    return [*judge_arguments(pool, declared), *judge_intent(pool, region)]
