"""The IAM policies of a plan: what IAM takes of them."""

from collections import defaultdict

from gpufleet.plan import Plan, Resource
from gpufleet.plan.property_values import value_of
from gpufleet.rules.aws.iam_policy import INLINE_OF_A_ROLE, MANAGED, policy_size
from gpufleet.rules.resource_finding import ResourceFinding, findings_on

POLICY, INLINE, ROLE = "aws:iam/policy:Policy", "aws:iam/rolePolicy:RolePolicy", "aws:iam/role:Role"


def validate_iam_policies(plan: Plan) -> list[ResourceFinding]:
    """Every finding on the sizes of policies whose text is known."""
    found: list[ResourceFinding] = []
    for policy in plan.of_type(POLICY):
        if (size := _size(policy)) is not None:
            found += findings_on(policy, [policy_size(holder="policy", size=size, most=MANAGED)])
    # By the role in the plan, or by the name of another one. A size that is not known counts as nothing.
    sizes: dict[str, int] = defaultdict(int)
    last: dict[str, Resource] = {}
    for inline in plan.of_type(INLINE):
        roles = plan.behind(inline, "role", ROLE)
        key = roles[0].urn if len(roles) == 1 else value_of(inline, "role")
        if isinstance(key, str):
            sizes[key] += _size(inline) or 0
            last[key] = inline
    for key, size in sizes.items():
        judged = policy_size(holder="inline policies of the role", size=size, most=INLINE_OF_A_ROLE)
        found += findings_on(last[key], [judged])
    return found


def _size(policy: Resource) -> int | None:
    """Characters without white space, as IAM counts; None where the text is not known."""
    text = value_of(policy, "policy")
    return len("".join(text.split())) if isinstance(text, str) else None
