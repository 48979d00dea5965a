"""Cases of gpufleet.rules.aws.security_group."""

from gpufleet.catalog import aws
from gpufleet.rules.aws.security_group import rule_count

CASES = {
    rule_count: [
        ("at-the-quota", {"direction": "ingress", "count": 60}, "pass", ""),
        (
            "above",
            {"direction": "egress", "count": 61},
            "fail",
            "trainers: egress=61 rules: more than the 60 that an account begins with; name a prefix list or another "
            "group in place of ranges, or raise the quota L-0EA8095F [aws-security-group-rule-count]",
        ),
    ],
}


def test_case(case):
    case.check()


def test_the_fix_names_the_quota_that_preflight_reads():
    assert aws().resource_quotas["rules_per_security_group"].code in rule_count(direction="egress", count=61).fix
