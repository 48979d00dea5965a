"""The policy pack gpufleet-cost: `pulumi preview --policy-pack policies/cost`.

Needs a Python that has gpufleet installed with the extra `policies`; configure it with --policy-pack-config.
"""

from pulumi_policy import PolicyPack

from gpufleet.policies import cost, ownership
from gpufleet.policies.pack import StackPolicy, policies_of

PolicyPack(
    "gpufleet-cost",
    policies_of(
        StackPolicy("cost", "What a stack may cost.", cost.validate_cost, cost.PROPERTIES),
        StackPolicy(
            "ownership", "Who answers for it, and until when.", ownership.validate_ownership, ownership.PROPERTIES
        ),
    ),
)
