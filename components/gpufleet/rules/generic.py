"""Rules that hold for any argument of their kind: words, numbers, lists."""

from collections.abc import Sequence

from gpufleet.rules.messages import use_one_of
from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule


@rule("any-argument-word", Severity.ERROR)
def allowed_choice(*, argument: str, word: str, legal: Sequence[str]) -> Outcome:
    """An argument with a fixed set of values takes one that its docstring lists.

    Source: the arguments' docstrings; Pulumi's component analyzer rejects Literal, so that no type says it.
    """
    return passed() if word in legal else failed(argument, word, "is not an allowed value", use_one_of(word, legal))


@rule("any-argument-least", Severity.ERROR)
def at_least(*, argument: str, value: float, least: int) -> Outcome:
    """A count is not below its minimum.

    Source: EKS wants minSize and desiredSize of at least 0 and maxSize of at least 1, ECR lifecycle counts of at
    least 1 (botocore's models of eks and ecr).
    """
    return passed() if value >= least else failed(argument, value, f"is below {least}", f"use {least} or more")


@rule("any-argument-not-empty", Severity.ERROR)
def not_empty(*, argument: str, values: Sequence[str], holds: str) -> Outcome:
    """A list of places or things to create is not empty.

    Source: EKS rejects a node group without subnets or instance types.
    """
    return passed() if values else failed(argument, list(values), "is empty", f"give at least one {holds}")


@rule("any-argument-distinct", Severity.ERROR)
def distinct(*, argument: str, values: Sequence[str]) -> Outcome:
    """A list has no duplicates.

    Source: a zone given twice asks for two mount targets in one zone: MountTargetConflict (hashicorp/terraform#8205).
    """
    twice = sorted({value for value in values if values.count(value) > 1})
    return failed(argument, list(values), f"names {', '.join(twice)} twice", "name it once") if twice else passed()
