"""Rules on the number of rules of a security group."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

MOST = 60
"""Inbound rules of a group, and outbound ones, each for IPv4 and IPv6 apart: the quota that an account begins with."""


@rule("aws-security-group-rule-count", Severity.WARNING)
def rule_count(*, direction: str, count: int) -> Outcome:
    """A security group has no more rules in a direction than the quota that an account begins with.

    direction: ingress or egress. count: rules for IPv4, one for each range of addresses.

    Source: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html (60 inbound and 60 outbound, which
    can be raised); eksctl-io/eksctl#3974 (RulesPerSecurityGroupLimitExceeded).
    """
    if count <= MOST:
        return passed()
    fix = "name a prefix list or another group in place of ranges, or raise the quota L-0EA8095F"
    return failed(direction, f"{count} rules", f"more than the {MOST} that an account begins with", fix)
