"""The security groups of a plan: how many rules they have."""

from collections import Counter

from gpufleet.plan import Plan, Resource
from gpufleet.plan.aws.security_groups import EGRESS, INGRESS, OLD_RULE, RULES, SECURITY_GROUP
from gpufleet.plan.property_values import blocks, get_path, items, value_of
from gpufleet.rules.aws.security_group import rule_count
from gpufleet.rules.resource_finding import ResourceFinding, findings_on


def validate_security_groups(plan: Plan) -> list[ResourceFinding]:
    """Every finding on the number of rules of the program's groups; what is not known yet counts as nothing."""
    counts: Counter[tuple[str, str]] = Counter()
    for group in plan.of_type(SECURITY_GROUP):
        for direction in (INGRESS, EGRESS):
            counts[group.urn, direction] += sum(_peers(each) for each in blocks(value_of(group, direction)))
    for kind, direction in RULES.items():
        for rule in plan.of_type(kind):
            # EC2 counts rules for IPv6 separately.
            _count(plan, rule, direction, 0 if value_of(rule, "cidrIpv6") else 1, counts)
    for rule in plan.of_type(OLD_RULE):
        if isinstance(said := value_of(rule, "type"), str):
            _count(plan, rule, said, _peers(rule.inputs), counts)
    found: list[ResourceFinding] = []
    for (urn, direction), count in counts.items():
        group = plan.by_urn[urn]
        found += findings_on(group, [rule_count(direction=direction, count=count)])
    return found


def _count(plan: Plan, rule: Resource, direction: str, rules: int, counts: Counter[tuple[str, str]]) -> None:
    for group in plan.behind(rule, "securityGroupId", SECURITY_GROUP):
        counts[group.urn, direction] += rules


def _peers(rule: object) -> int:
    """How many rules of EC2 a block makes for IPv4: one for each range, group and prefix list."""
    several = sum(len(items(get_path(rule, name))) for name in ("cidrBlocks", "securityGroups", "prefixListIds"))
    alone = get_path(rule, "self") is True or get_path(rule, "sourceSecurityGroupId") is not None
    return several + (1 if alone else 0)
