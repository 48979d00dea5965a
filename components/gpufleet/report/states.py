"""The plans on both sides of a preview."""

from gpufleet.plan.preview import GONE, plan_of_states
from gpufleet.plan.resource import Plan
from gpufleet.report.changes import OPERATIONS
from gpufleet.report.preview import Preview


def plan_after(preview: Preview) -> Plan:
    """The stack as it will be."""
    kept = ((step.new, step.op) for step in preview.steps if step.new is not None and step.op not in GONE)
    return plan_of_states(kept, preview.config)


def plan_before(preview: Preview, after: Plan) -> Plan:
    """The stack as it is. after: the plan of the same preview, which has what stays the same already."""
    kept = [step for step in preview.steps if step.op in OPERATIONS or step.op in ("same", "refresh")]
    same = {step.urn: after.by_urn[step.urn] for step in kept if step.op == "same" and step.urn in after.by_urn}
    return plan_of_states(((step.old, "same") for step in kept if step.old is not None), preview.config, same)
