"""The pause between a queue's move and the end of the environment that it left.

Batch's relation between queue and environment is eventually consistent: after a successful UpdateJobQueue the old
environment cannot be deleted at once (Cannot delete, found existing JobQueue relationship: pulumi/pulumi-aws#6233,
hashicorp/terraform-provider-aws#46925). No call shows when it can, so there is nothing to poll.
"""

import asyncio
import os
from collections.abc import Mapping
from typing import Any

import pulumi

RELATION_SECONDS = 90.0
"""About 60 s were seen between a queue's change and the end of the relation (hashicorp/terraform-provider-aws#2044),
and half as much again."""
SCALE = "GPUFLEET_PAUSE_SCALE"
"""Environment variable: a factor of the pause, 1 by default. A rehearsal sets that of its own clock."""


def pause_scale() -> float:
    """The factor in GPUFLEET_PAUSE_SCALE. Errors: RunError unless it is a number from 0 to 10."""
    text = os.environ.get(SCALE, "1")
    try:
        scale = float(text)
    except ValueError:
        scale = -1.0
    if not 0 <= scale <= 10:
        raise pulumi.RunError(f"{SCALE}={text}: must be a number from 0 to 10; change it or leave it out")
    return scale


def removed_environments(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> set[str]:
    """ARNs of the environments that the queue of inputs ``old`` names and that of ``new`` does not."""
    return _environments(old) - _environments(new)


def pause_after_move(name: str, scale: float) -> pulumi.ResourceHook:
    """A hook for the queue ``name``, for after its update: waits while an environment that it left is still bound.

    It runs before Pulumi deletes what was replaced, which it does at the end of an update; a preview does not run it.
    """

    async def pause(args: pulumi.ResourceHookArgs) -> None:
        if removed_environments(args.old_inputs, args.new_inputs):
            await asyncio.sleep(RELATION_SECONDS * scale)

    return pulumi.ResourceHook(f"{name}-pause", pause)


def _environments(inputs: Mapping[str, Any] | None) -> set[str]:
    orders = (inputs or {}).get("computeEnvironmentOrders") or []
    return {str(each["computeEnvironment"]) for each in orders}
