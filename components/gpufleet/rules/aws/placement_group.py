"""The rule on a placement group that exists already, as the account holds it."""

from collections.abc import Mapping

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule, unverified

_LOOK = "`aws ec2 describe-placement-groups`"


@rule("aws-placement-group-usable", Severity.ERROR)
def placement_group_usable(*, placement_group: str, found: Mapping[str, object] | None) -> Outcome:
    """The placement group of a pool exists, is available, and has the strategy cluster.

    `found` is what the account says of it: strategy and state; {} if it holds none of that name, None where nobody
    knows.

    Source: EC2 answers InvalidPlacementGroup.Unknown to a launch into one that is not there;
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html: only cluster brings nodes near.
    """
    if found is None:
        problem = "what the account holds of this placement group is not known"
        return unverified("placement_group", placement_group, problem, f"look with {_LOOK}")
    if not found:
        problem = "the account holds no such placement group in this region"
        fix = f"give a name that {_LOOK} shows, or set placement=create"
        return failed("placement_group", placement_group, problem, fix)
    if found["strategy"] != "cluster":
        problem = f"is of the strategy {found['strategy']}"
        return failed("placement_group", placement_group, problem, "use one of the strategy cluster")
    if found["state"] != "available":
        return failed("placement_group", placement_group, f"is {found['state']}", "use one that is available")
    return passed()
