"""What a stack is about to be: its resources, read from a preview or as a policy pack gets them.

Imports neither pulumi nor a cloud SDK. `plan_of` turns the output of `pulumi preview --json` into a `Plan`;
`planned_pools` finds the pools of nodes in it, from our components or from any other program.
"""

from gpufleet.plan.resource import UNKNOWN, Plan, Resource

__all__ = ["UNKNOWN", "Plan", "Resource"]
