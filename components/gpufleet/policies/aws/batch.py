"""AWS Batch in a plan: compute environments, queues and job definitions."""

import json
from collections.abc import Iterable, Mapping, Sequence

from gpufleet.catalog import aws
from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.aws.types import has_gpus
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.values import at, blocks, given, items, number
from gpufleet.policies.on import on
from gpufleet.rules import read
from gpufleet.rules.aws import batch, batch_job
from gpufleet.rules.judged import Judged
from gpufleet.rules.rule import Finding

QUEUE = "aws:batch/jobQueue:JobQueue"
JOB = "aws:batch/jobDefinition:JobDefinition"
ROLE = "aws:iam/role:Role"
RIGHTS = ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "aws:iam/rolePolicy:RolePolicy")
_ORDERS = "computeEnvironmentOrders"


def judge_batch(plan: Plan, pools: Sequence[PlannedPool]) -> list[Judged]:
    """Every finding on AWS Batch."""
    by_urn = {pool.resource.urn: pool for pool in pools}
    judged: list[Judged] = []
    for each in plan.of_type(COMPUTE_ENVIRONMENT):
        judged += on(each, [batch.service_role_ready(missed=_policies_missed(plan, each))])
        judged += on(each, _environment(each, by_urn.get(each.urn)))
    for each in plan.of_type(QUEUE):
        judged += on(each, _queue(plan, each))
    for each in plan.of_type(JOB):
        judged += on(each, _job(plan, each, by_urn))
    return judged


def _policies_missed(plan: Plan, environment: Resource) -> list[str]:
    """Names of what gives the environment's service role its rights, and is not waited for."""
    roles = {role.urn for role in plan.behind(environment, "serviceRole", ROLE)}
    rights = [each for each in plan.of_type(*RIGHTS) if roles & {role.urn for role in plan.behind(each, "role", ROLE)}]
    return sorted(each.name for each in rights if each.urn not in environment.waits_for)


def _environment(resource: Resource, pool: PlannedPool | None) -> Iterable[Finding]:
    block = given(resource, "computeResources")
    if block is None or pool is None:
        return
    role = at(block, "instanceRole")
    if role is not UNKNOWN:
        yield batch.instance_role(role=role if isinstance(role, str) else None)
    for configuration in blocks(at(block, "ec2Configurations")):
        image_type = at(configuration, "imageType")
        own = at(configuration, "imageIdOverride") is not None or at(block, "imageId") is not None
        if isinstance(image_type, str) and not own:
            yield batch.image_fits(image_type=image_type, gpus=bool(pool.gpu))
    name = given(resource, "name")
    yield batch.name_replaceable(name=name if isinstance(name, str) else "", logical=resource.name)
    yield batch.service_role(given=given(resource, "serviceRole") is not None)
    types = [each for each in items(at(block, "instanceTypes")) if isinstance(each, str)]
    yield batch.gpu_types(
        with_gpus=[each for each in types if has_gpus([each])],
        without=[each for each in types if has_gpus([each]) is False],
    )
    most = number(at(block, "maxVcpus"))
    names = read.texts(pool.intent, "types")
    records = [aws().types[name] for name in names if name in aws().types]
    if most is not None and records and len(records) == len(names):
        smallest = min(records, key=lambda each: (each.vcpus, each.type))
        yield batch.max_vcpus_hold_one(max_vcpus=most, smallest=smallest.type, vcpus=smallest.vcpus)
        if len(records) == 1:
            yield batch.vcpus_left(max_vcpus=most, type_name=smallest.type, vcpus=smallest.vcpus)


def _queue(plan: Plan, resource: Resource) -> Iterable[Finding]:
    value = given(resource, _ORDERS)
    if value is not UNKNOWN:
        yield batch.queue_size(environments=len(items(value)))
    markets = [_market(each) for each in plan.behind(resource, _ORDERS, COMPUTE_ENVIRONMENT)]
    yield batch.queue_kind(markets=sorted(each for each in markets if each and each != "UNMANAGED"))


def _market(environment: Resource) -> str | None:
    """EC2, SPOT, FARGATE, FARGATE_SPOT or UNMANAGED; None where that is not known."""
    kind = given(environment, "type")
    if isinstance(kind, str) and kind.upper() == "UNMANAGED":
        return "UNMANAGED"
    market = at(given(environment, "computeResources"), "type")
    return market.upper() if isinstance(market, str) else None


def _job(plan: Plan, resource: Resource, pools: Mapping[str, PlannedPool]) -> Iterable[Finding]:
    capabilities = items(given(resource, "platformCapabilities"))
    fargate = "FARGATE" in capabilities
    nodes = _parsed(given(resource, "nodeProperties"))
    ranges = blocks(at(nodes, "nodeRangeProperties"))
    containers = [_parsed(given(resource, "containerProperties")), *(at(each, "container") for each in ranges)]
    for container in containers:
        for requirement in blocks(at(container, "resourceRequirements")):
            kind, value = at(requirement, "type"), at(requirement, "value")
            if isinstance(kind, str) and isinstance(value, str | int | float):
                yield batch_job.requirement_whole(kind=kind, value=str(value), fargate=fargate)
    if given(resource, "type") != "multinode":
        return
    types = [at(each, "container", "instanceType") for each in ranges]
    yield batch_job.same_node_type(types=[each for each in types if isinstance(each, str)])
    yield _place(plan)
    for environment in plan.of_type(COMPUTE_ENVIRONMENT):
        pool = pools.get(environment.urn)
        if pool is not None and _market(environment) == "EC2":
            zones = read.texts(pool.intent, "zones") or tuple(pool.places)
            yield batch_job.multinode_zone(environment=environment.name, zones=zones)


def _place(plan: Plan) -> Finding:
    """Whether a queue of the plan takes a multi-node job. Which one it goes to is said only when it is submitted."""
    environments = plan.of_type(COMPUTE_ENVIRONMENT)
    known = {each.urn: _market(each) for each in environments}
    refusing = sorted(
        f"{each.name} ({known[each.urn]})" for each in environments if known[each.urn] not in ("EC2", None)
    )
    queues = [plan.behind(each, _ORDERS, COMPUTE_ENVIRONMENT) for each in plan.of_type(QUEUE)]
    choices = [[known[each.urn] for each in queue] for queue in queues] or [[market] for market in known.values()]
    if any(choice and set(choice) == {"EC2"} for choice in choices):
        return batch_job.multinode_place(refusing=(), fitting=True)
    doubt = not choices or any(not choice or None in choice for choice in choices)
    return batch_job.multinode_place(refusing=refusing, fitting=None if doubt else False)


def _parsed(value: object) -> object:
    """The object that a property holds as JSON; None for what is not JSON, or not known."""
    if not isinstance(value, str):
        return value if isinstance(value, Mapping) else None
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None
