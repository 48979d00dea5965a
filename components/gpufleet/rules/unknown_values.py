"""A rule on what a plan does not tell."""

from collections.abc import Sequence

from gpufleet.rules.rule import Outcome, Severity, passed, rule, unverified


@rule("any-plan-known", Severity.WARNING)
def plan_known(*, words: Sequence[str]) -> Outcome:
    """What rules look at is known before deployment; `words` are those of a pool that are not.

    Source: values that other resources make, or that lie outside the program, are unknown to a preview:
    https://www.pulumi.com/docs/iac/concepts/inputs-outputs/
    """
    if not words:
        return passed()
    problem = "the program does not tell these before deployment, so that rules about them were not judged"
    return unverified("plan", sorted(words), problem, "give plain values, or resources of the same program")
