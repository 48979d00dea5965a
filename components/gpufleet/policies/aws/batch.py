"""AWS Batch in a plan: compute environments and queues."""

from collections.abc import Iterable, Sequence

from gpufleet.catalog import AwsGpuType, aws
from gpufleet.plan import UNKNOWN, Plan, Resource
from gpufleet.plan.aws.batch import COMPUTE_ENVIRONMENT
from gpufleet.plan.aws.instance_types import has_gpus
from gpufleet.plan.planned_pool import PlannedPool
from gpufleet.plan.property_values import blocks, get_path, items, number, value_of
from gpufleet.policies.aws.batch_jobs import JOB, validate_job
from gpufleet.policies.aws.batch_queues import QUEUE, validate_queue
from gpufleet.rules import coerce
from gpufleet.rules.aws import batch, batch_environment, batch_strategy
from gpufleet.rules.resource_finding import ResourceFinding, findings_on
from gpufleet.rules.rule import Finding

ROLE = "aws:iam/role:Role"
RIGHTS = ("aws:iam/rolePolicyAttachment:RolePolicyAttachment", "aws:iam/rolePolicy:RolePolicy")


def validate_batch(plan: Plan, pools: Sequence[PlannedPool]) -> list[ResourceFinding]:
    """Every finding on AWS Batch."""
    by_urn = {pool.resource.urn: pool for pool in pools}
    resource_findings: list[ResourceFinding] = []
    for each in plan.of_type(COMPUTE_ENVIRONMENT):
        resource_findings += findings_on(each, [batch.service_role(given=_has_service_role(plan, each))])
        resource_findings += findings_on(each, [batch.service_role_ready(missed=_policies_missed(plan, each))])
        resource_findings += findings_on(each, _environment(each, by_urn.get(each.urn)))
    for each in plan.of_type(QUEUE):
        resource_findings += findings_on(each, validate_queue(plan, each))
    for each in plan.of_type(JOB):
        resource_findings += findings_on(each, validate_job(plan, each, by_urn))
    return resource_findings


def _has_service_role(plan: Plan, environment: Resource) -> bool:
    """Whether the program gives it a service role. AWS fills in the service-linked one, in a preview as unknown."""
    role = value_of(environment, "serviceRole")
    if isinstance(role, str):
        return "/aws-service-role/" not in role
    return bool(list(plan.behind(environment, "serviceRole", ROLE)))


def _policies_missed(plan: Plan, environment: Resource) -> list[str]:
    """Names of what gives the environment's service role its rights, and is not waited for."""
    roles = {role.urn for role in plan.behind(environment, "serviceRole", ROLE)}
    rights = [each for each in plan.of_type(*RIGHTS) if roles & {role.urn for role in plan.behind(each, "role", ROLE)}]
    return sorted(each.name for each in rights if each.urn not in environment.waits_for)


def _environment(resource: Resource, pool: PlannedPool | None) -> Iterable[Finding]:
    block = value_of(resource, "computeResources")
    if block is None or pool is None:
        return
    role = get_path(block, "instanceRole")
    if role is not UNKNOWN:
        yield batch.instance_role(role=role if isinstance(role, str) else None)
    names = coerce.texts(pool.intent, "types")
    records = [aws().types[name] for name in names if name in aws().types]
    yield from _image(block, pool, records)
    yield from _strategy(block, pool)
    name = value_of(resource, "name")
    yield batch.name_replaceable(name=name if isinstance(name, str) else "", logical=resource.name)
    types = [each for each in items(get_path(block, "instanceTypes")) if isinstance(each, str)]
    yield batch_environment.one_architecture(types=types)
    yield batch.gpu_types(
        with_gpus=[each for each in types if has_gpus([each])],
        without=[each for each in types if has_gpus([each]) is False],
    )
    most = number(get_path(block, "maxVcpus"))
    if most is not None and records and len(records) == len(names):
        smallest = min(records, key=lambda each: (each.vcpus, each.type))
        yield batch.max_vcpus_hold_one(max_vcpus=most, smallest=smallest.type, vcpus=smallest.vcpus)
        if len(records) == 1:
            yield batch.vcpus_left(max_vcpus=most, type_name=smallest.type, vcpus=smallest.vcpus)


def _image(block: object, pool: PlannedPool, records: Sequence[AwsGpuType]) -> Iterable[Finding]:
    for configuration in blocks(get_path(block, "ec2Configurations")):
        image_type = get_path(configuration, "imageType")
        own = get_path(configuration, "imageIdOverride") is not None or get_path(block, "imageId") is not None
        if isinstance(image_type, str) and not own:
            yield batch.image_fits(image_type=image_type, gpus=bool(pool.gpu))
            for each in records:
                yield batch_strategy.image_drives(
                    type_name=each.type, architecture=each.architecture, image_type=image_type
                )


def _strategy(block: object, pool: PlannedPool) -> Iterable[Finding]:
    """How instances are chosen, and what of the pool's words does not go with it."""
    market, strategy = get_path(block, "type"), get_path(block, "allocationStrategy")
    strategy = "BEST_FIT" if strategy is None else strategy
    if isinstance(market, str) and isinstance(strategy, str):
        role = get_path(block, "spotIamFleetRole") is not None
        yield batch_strategy.strategy_legal(strategy=strategy, spot=market.upper() == "SPOT", fleet_role=role)
        yield batch_strategy.updates_in_place(strategy=strategy)
    for argument, plain in (("placement", "none"), ("network", "plain")):
        if not {"capacity", argument} & set(pool.unknown):
            word, capacity = (
                coerce.text(pool.intent, argument, plain),
                coerce.text(pool.intent, "capacity", "on-demand"),
            )
            yield batch_environment.spot_near(capacity=capacity, argument=argument, word=word)
