"""The policy pack for cost: `pulumi preview --policy-pack policies/cost`. See docs/cost.md for its configuration."""

from pulumi_policy import PolicyPack

from gpufleet.policies import cost, ownership
from gpufleet.policies.pack import Concern

PolicyPack(
    "gpufleet-cost",
    [
        *Concern(
            "cost",
            "Ceilings, approval of GPUs, idle nodes, a budget, and a price for everything.",
            cost.judge_cost,
            cost.PROPERTIES,
        ).policies(),
        *Concern(
            "ownership",
            "An owner, a purpose and an end on everything that costs money.",
            ownership.judge_ownership,
            ownership.PROPERTIES,
        ).policies(),
    ],
)
