"""BatchQueue: where jobs wait, over environments that take them in order."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired, TypedDict, Unpack

import pulumi
from pulumi_aws import batch

from gpufleet.aws.queue_drain import pause_after_move, pause_scale
from gpufleet.component import KEYWORDS, Component, Opts
from gpufleet.rules import Finding, validate_batch_queue
from gpufleet.rules.aws.batch_queue import LEAST_SECONDS, MOST_SECONDS
from gpufleet.typed_dicts import NumberRange

DEFAULT_PRIORITY = 1


class BatchQueueConfig(TypedDict):
    """In which order jobs go, and how long they wait."""

    priority: NotRequired[int]
    """Among queues that share an environment, those with the higher number go first. Default 1."""
    shares: NotRequired[Mapping[str, float]]
    """Team to its share, for instance {"vision": 3, "speech": 1}: while both wait, vision gets three times as many
    vCPUs. Jobs then name their team when they are submitted, and one that is not listed has a share of 1. Default: who
    comes first goes first. Giving shares to a queue without them, or taking them away, replaces the queue."""
    runnable_minutes: NotRequired[Annotated[int, NumberRange(LEAST_SECONDS // 60, MOST_SECONDS // 60)]]
    """Minutes, 10 to 1440, after which a job at the head of the queue that finds no node is cancelled, with the
    reason. Default: it waits."""


class BatchQueueArgs(BatchQueueConfig):
    """The same, and which environments take the jobs."""

    environments: Sequence[pulumi.Input[str]]
    """ARNs of 1 to 3 compute environments. Jobs go to the first that has room: reservation, on-demand, then spot, for
    instance. A queue for multi-node jobs has no environment on spot."""
    tags: NotRequired[Mapping[str, str]]
    """Tags of every resource."""


STUCK = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:COMPUTE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:JOB_RESOURCE_REQUIREMENT",
)
"""Batch's words for why a job stays at the head of a queue, of those for which it may be cancelled.

Source: docs.aws.amazon.com/batch/latest/userguide/job_stuck_in_runnable.html and the pages below it.
"""


def time_limits(minutes: int | None) -> list[dict[str, Any]]:
    """What Batch does to a job that stays RUNNABLE at the head of the queue, for each reason that it tells."""
    if minutes is None:
        return []
    return [
        {"state": "RUNNABLE", "action": "CANCEL", "max_time_seconds": minutes * 60, "reason": reason}
        for reason in STUCK
    ]


def weight_factors(shares: Mapping[str, float]) -> dict[str, float]:
    """Team to Batch's weight factor, which is the inverse of its share, to the four decimals that Batch tells apart."""
    return {team: round(1 / share, 4) for team, share in sorted(shares.items())}


class BatchQueue(Component):
    """A job queue over an ordered list of environments, optionally with fair shares and a time limit for waiting jobs.

    When an environment is replaced, the new one exists before the queue moves to it, and the old one goes after: the
    queue is never without one, and waiting jobs stay. After a move it waits 90 seconds, since Batch refuses to delete
    an environment that a queue has only just left.
    """

    queue_arn: pulumi.Output[str]
    """ARN of the queue, to which jobs are submitted."""
    queue_name: pulumi.Output[str]
    """Its name."""

    def __init__(
        self, name: str, args: BatchQueueArgs = KEYWORDS, opts: Opts = None, **keywords: Unpack[BatchQueueArgs]
    ) -> None:
        super().__init__(name, args, opts, keywords)

    @staticmethod
    def findings(name: str, args: BatchQueueArgs) -> list[Finding]:
        # Read here as well: a wrong environment variable ends the program before anything is registered.
        pause_scale()
        return validate_batch_queue(args)

    def create(self, name: str, args: BatchQueueArgs) -> None:
        minutes = args.get("runnable_minutes")
        child = f"{name}-queue"
        queue = batch.JobQueue(
            child,
            state="ENABLED",
            priority=int(args.get("priority", DEFAULT_PRIORITY)),
            compute_environment_orders=[
                batch.JobQueueComputeEnvironmentOrderArgs(order=order, compute_environment=environment)
                for order, environment in enumerate(args["environments"], start=1)
            ],
            scheduling_policy_arn=self._policy(name, args.get("shares", {})),
            job_state_time_limit_actions=[
                batch.JobQueueJobStateTimeLimitActionArgs(**action)
                for action in time_limits(None if minutes is None else int(minutes))
            ]
            or None,
            tags=self.tags(child),
            opts=self.child(hooks=pulumi.ResourceHookBinding(after_update=[pause_after_move(child, pause_scale())])),
        )
        self.queue_arn = queue.arn
        self.queue_name = queue.name

    def _policy(self, name: str, shares: Mapping[str, float]) -> pulumi.Output[str] | None:
        """The ARN of a scheduling policy with these shares."""
        if not shares:
            return None
        child = f"{name}-shares"
        policy = batch.SchedulingPolicy(
            child,
            fair_share_policy=batch.SchedulingPolicyFairSharePolicyArgs(
                share_distributions=[
                    batch.SchedulingPolicyFairSharePolicyShareDistributionArgs(
                        share_identifier=team, weight_factor=factor
                    )
                    for team, factor in weight_factors(shares).items()
                ]
            ),
            tags=self.tags(child),
            opts=self.child(),
        )
        return policy.arn
