"""The rule on values that a plan does not know."""

from collections.abc import Sequence

from gpufleet.rules.rule import Outcome, Severity, passed, rule, unverified


@rule("any-plan-known", Severity.WARNING)
def plan_known(*, arguments: Sequence[str]) -> Outcome:
    """The arguments that rules check are known before deployment; `arguments` are those of a pool that are not.

    Source: values that other resources make, or that lie outside the program, are unknown to a preview:
    https://www.pulumi.com/docs/iac/concepts/inputs-outputs/
    """
    if not arguments:
        return passed()
    problem = "these are not known before deployment, so rules about them were not checked"
    return unverified("plan", sorted(arguments), problem, "give plain values, or resources of the same program")
