"""The lifecycle policies of a plan's registries."""

from gpufleet.plan import Plan
from gpufleet.plan.property_values import blocks, from_json, get_path, value_of
from gpufleet.rules.aws.registry import any_rule_last
from gpufleet.rules.coerce import is_whole
from gpufleet.rules.resource_finding import ResourceFinding, findings_on

LIFECYCLE = "aws:ecr/lifecyclePolicy:LifecyclePolicy"


def validate_registries(plan: Plan) -> list[ResourceFinding]:
    """Every finding on lifecycle policies whose text is known."""
    found: list[ResourceFinding] = []
    for policy in plan.of_type(LIFECYCLE):
        rules = blocks(get_path(from_json(value_of(policy, "policy")), "rules"))
        priorities = {int(value): rule for rule in rules if is_whole(value := rule.get("rulePriority"))}
        for priority, rule in priorities.items():
            if get_path(rule, "selection", "tagStatus") == "any":
                found += findings_on(policy, [any_rule_last(priority=priority, last=max(priorities))])
    return found
