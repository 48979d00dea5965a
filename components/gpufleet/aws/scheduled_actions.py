"""A node group's sizes by the hours of the week: scheduled actions on its Auto Scaling group."""

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
from pulumi_aws import autoscaling

from gpufleet.component import Component
from gpufleet.pools.schedule import ScheduleEntry, cron_of, sizes_of

_UNCHANGED = -1
"""The provider's value for a size that an action does not change."""


def scheduled_actions(
    name: str, group: pulumi.Input[str], schedule: Sequence[ScheduleEntry], pool: Mapping[str, Any], parent: Component
) -> None:
    """An action for each entry, named by when it begins: it sets min and max, and the group follows.

    group: name of the Auto Scaling group that EKS made. The desired number stays the autoscaler's; Auto Scaling moves
    it into the new limits (https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-scheduled-scaling.html).
    EKS itself takes no maximum of 0; an action does. terraform-aws-modules/terraform-aws-eks#2504 schedules managed
    node groups in the same way. The cluster's autoscaler reads the limits again each minute, and starts nothing above.
    """
    for hours in schedule:
        least, most = sizes_of(hours, pool)
        cron = cron_of(hours)
        zone = hours.get("time_zone", "UTC")
        action = _word(cron, zone)
        autoscaling.Schedule(
            f"{name}-{action}",
            autoscaling_group_name=group,
            scheduled_action_name=action,
            recurrence=cron,
            time_zone=zone,
            min_size=least,
            max_size=most,
            desired_capacity=_UNCHANGED,
            opts=parent.child(),
        )


def _word(cron: str, zone: str) -> str:
    """A name that stays while the moment does: 20-00-on-1-2-3-4-5-europe-berlin."""
    minute, hour, _, _, days = cron.split()
    chosen = "all" if days == "*" else days.replace(",", "-")
    return f"{int(hour):02}-{int(minute):02}-on-{chosen}-{zone.replace('/', '-').lower()}"
