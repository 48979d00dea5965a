"""The rule on names that Pulumi's providers make of the logical names of resources."""

from gpufleet.rules.rule import Finding, Outcome, Severity, failed, passed, rule

RANDOM = 8
"""Characters that the provider of AWS (a hyphen and seven digits) and azure-native (eight) append to a logical name."""


@rule("any-name-length", Severity.ERROR)
def name_length(*, kind: str, logical: str, longest: int, environment: str) -> Outcome:
    """A logical name leaves room for the random end, so that the name in the cloud is not too long.

    `kind` is the type of the resource in words, `longest` the characters of a name in the cloud, the random end
    included, and `environment` the name of the stack.

    Source: pulumi/pulumi, sdk/go/common/resource (NewUniqueName): "name 'x-' plus 7 random chars is longer than maximum
    length 64", pulumi/pulumi-aws#1317; azure-native appends 8 and leaves the length to Azure.
    """
    over = len(logical) + RANDOM - longest
    if over <= 0:
        return passed()
    problem = f"with the {RANDOM} random characters of its end, the name of the {kind} is longer than {longest}"
    left = len(environment) - over
    if environment and logical.startswith(f"{environment}-") and left > 0:
        return failed("name", logical, problem, f"use a stack name of at most {left} characters")
    return failed("name", logical, problem, f"shorten it by {over} characters")


def validate_automatic_name(kind: str, logical: str, longest: int, environment: str) -> list[Finding]:
    """Every finding on the logical name of a resource without its own name: see `name_length`."""
    return [name_length(kind=kind, logical=logical, longest=longest, environment=environment)]
