"""Rules on the size of IAM policies."""

from gpufleet.rules.rule import Outcome, Severity, failed, passed, rule

MANAGED, INLINE_OF_A_ROLE = 6144, 10_240
"""Characters of a managed policy, and of all inline policies of a role together, without white space."""


@rule("aws-iam-policy-size", Severity.ERROR)
def policy_size(*, holder: str, size: int, most: int) -> Outcome:
    """A managed policy, or the inline policies of a role together, are not longer than IAM takes.

    holder: whose size it is, "policy" or "inline policies of the role". size, most: characters without white space.

    Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html; "Cannot exceed quota for
    PolicySize: 6144", ministryofjustice/cloud-platform-environments#14473; "Maximum policy size of 10240 bytes exceeded
    for role", aws/aws-cdk#12403.
    """
    if size <= most:
        return passed()
    fix = "name resources by a pattern, or split it up into several managed policies"
    return failed("policy", f"{size:,} characters", f"{holder}: longer than the {most:,} that IAM takes", fix)
