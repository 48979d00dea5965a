"""Job queues of AWS Batch in a plan, and which environments they have."""

from collections.abc import Iterable

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.property_values import blocks, get_path, items, number, value_of
from gpufleet.rules.aws import batch, batch_queue
from gpufleet.rules.rule import Finding

QUEUE = "aws:batch/jobQueue:JobQueue"
ORDERS = "computeEnvironmentOrders"


def validate_queue(plan: Plan, resource: Resource) -> Iterable[Finding]:
    """The findings on one queue."""
    value = value_of(resource, ORDERS)
    if value is not UNKNOWN:
        yield batch.queue_size(environments=len(items(value)))
    markets = [market_of(each) for each in plan.behind(resource, ORDERS, COMPUTE_ENVIRONMENT)]
    for action in blocks(value_of(resource, "jobStateTimeLimitActions")):
        seconds = number(get_path(action, "maxTimeSeconds"))
        if seconds is not None:
            argument = "job_state_time_limit_actions.max_time_seconds"
            yield batch_queue.time_limit(
                argument=argument, value=seconds, least=batch_queue.LEAST_SECONDS, most=batch_queue.MOST_SECONDS
            )
    yield batch.queue_kind(markets=sorted(each for each in markets if each and each != "UNMANAGED"))


def market_of(environment: Resource) -> str | None:
    """EC2, SPOT, FARGATE, FARGATE_SPOT or UNMANAGED; None where that is not known."""
    kind = value_of(environment, "type")
    if isinstance(kind, str) and kind.upper() == "UNMANAGED":
        return "UNMANAGED"
    market = get_path(value_of(environment, "computeResources"), "type")
    return market.upper() if isinstance(market, str) else None
