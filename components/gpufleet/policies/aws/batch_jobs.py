"""Job definitions of AWS Batch in a plan, and where multi-node jobs find nodes."""

from collections.abc import Iterable, Mapping

from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.aws.route_tables import RouteTables
from gpufleet.plan.aws.zones import SUBNET
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import blocks, from_json, get_path, items, number, value_of
from gpufleet.policies.aws.batch_queues import ORDERS, QUEUE, market_of
from gpufleet.rules import coerce
from gpufleet.rules.aws import batch_job, batch_limits
from gpufleet.rules.aws.subnet_routes import INTERNET
from gpufleet.rules.rule import Finding

JOB = "aws:batch/jobDefinition:JobDefinition"
MOST_TRIES = 10


def validate_job(plan: Plan, resource: Resource, pools: Mapping[str, PlannedPool]) -> Iterable[Finding]:
    """The findings on one job definition; ``pools`` are those of the plan, by the URN of their resource."""
    capabilities = items(value_of(resource, "platformCapabilities"))
    fargate = "FARGATE" in capabilities
    nodes = from_json(value_of(resource, "nodeProperties"))
    ranges = blocks(get_path(nodes, "nodeRangeProperties"))
    containers = [
        from_json(value_of(resource, "containerProperties")),
        *(get_path(each, "container") for each in ranges),
    ]
    for container in containers:
        network = get_path(container, "networkConfiguration")
        # A container with an output inside, such as its image's address, is one text that is not known at preview.
        if network is not UNKNOWN and value_of(resource, "platformCapabilities") is not UNKNOWN:
            yield batch_job.network_of_fargate(given=network is not None, fargate=fargate)
        for requirement in blocks(get_path(container, "resourceRequirements")):
            kind, value = get_path(requirement, "type"), get_path(requirement, "value")
            if isinstance(kind, str) and isinstance(value, str | int | float):
                yield batch_job.requirement_whole(kind=kind, value=str(value), fargate=fargate)
    attempts = number(get_path(value_of(resource, "retryStrategy"), "attempts"))
    if attempts is not None:
        yield batch_limits.tries(argument="retry_strategy.attempts", value=attempts, least=1, most=MOST_TRIES)
    seconds = number(get_path(value_of(resource, "timeout"), "attemptDurationSeconds"))
    if seconds is not None:
        yield batch_limits.timeout(argument="timeout.attempt_duration_seconds", value=seconds, least=60)
    if value_of(resource, "type") != "multinode":
        return
    routes = RouteTables(plan)
    types = [get_path(each, "container", "instanceType") for each in ranges]
    yield batch_job.same_node_type(types=[each for each in types if isinstance(each, str)])
    yield _place(plan)
    for environment in _places(plan):
        pool = pools.get(environment.urn)
        if pool is not None:
            zones = coerce.texts(pool.intent, "zones") or tuple(pool.places)
            yield batch_job.multinode_zone(environment=environment.name, zones=zones)
            subnets = sorted(plan.behind(environment, "computeResources", SUBNET), key=lambda each: each.name)
            public = [each.name for each in subnets if routes.way_out(each) == INTERNET]
            yield batch_job.multinode_private(environment=environment.name, public=public)


def _places(plan: Plan) -> list[Resource]:
    """The environments that a multi-node job may run on: of queues with nothing else, or, without queues, of any."""
    on_demand = {each.urn for each in plan.of_type(COMPUTE_ENVIRONMENT) if market_of(each) == "EC2"}
    queues = [[each.urn for each in plan.behind(queue, ORDERS, COMPUTE_ENVIRONMENT)] for queue in plan.of_type(QUEUE)]
    if any(queues):
        on_demand &= {urn for queue in queues if set(queue) <= on_demand for urn in queue}
    return [each for each in plan.of_type(COMPUTE_ENVIRONMENT) if each.urn in on_demand]


def _place(plan: Plan) -> Finding:
    """Whether a queue of the plan takes a multi-node job. Only its submission names the queue."""
    environments = plan.of_type(COMPUTE_ENVIRONMENT)
    known = {each.urn: market_of(each) for each in environments}
    unsuitable = sorted(
        f"{each.name} ({known[each.urn]})" for each in environments if known[each.urn] not in ("EC2", None)
    )
    queues = [plan.behind(each, ORDERS, COMPUTE_ENVIRONMENT) for each in plan.of_type(QUEUE)]
    choices = [[known[each.urn] for each in queue] for queue in queues] or [[market] for market in known.values()]
    if any(choice and set(choice) == {"EC2"} for choice in choices):
        return batch_job.multinode_place(unsuitable=(), fitting=True)
    doubt = not choices or any(not choice or None in choice for choice in choices)
    return batch_job.multinode_place(unsuitable=unsuitable, fitting=None if doubt else False)
