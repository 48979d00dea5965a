"""A managed compute environment of AWS Batch in a plan as a pool."""

import math
from collections.abc import Sequence

from gpufleet.catalog import aws
from gpufleet.plan.aws.build_pool import build_pool
from gpufleet.plan.aws.instance_types import of_family
from gpufleet.plan.aws.launch_template import (
    one_type,
    set_capacity,
    set_disk,
    set_network,
    set_placement,
    set_template_placement,
    template_of,
)
from gpufleet.plan.aws.zones import ZoneNames, distinct, subnet_gives_addresses, zones_of
from gpufleet.plan.planned_pool import PlannedPool, PoolBuilder
from gpufleet.plan.property_values import get_path, items, number, value_of
from gpufleet.plan.resource import UNKNOWN, Plan, Resource

COMPUTE_ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
RESOURCES = "computeResources"
_FARGATE = ("FARGATE", "FARGATE_SPOT")


def compute_environment(plan: Plan, resource: Resource, zone_names: ZoneNames) -> PlannedPool | None:
    """The pool that a compute environment is; None for one that has no instances in the account: unmanaged, or Fargate.

    Batch limits vCPUs and not nodes: `max` is how many of the smallest type fit, `min` how few of the largest suffice,
    `most_by_type` how many of each type, one begun included. Batch goes beyond the limit by at most one instance with
    all strategies but BEST_FIT of on-demand instances:
    https://docs.aws.amazon.com/batch/latest/userguide/allocation-strategies.html
    """
    block = value_of(resource, RESOURCES)
    market = get_path(block, "type")
    if block is None or market in _FARGATE:
        return None
    pool = PoolBuilder()
    template = template_of(plan, resource, RESOURCES, "launchTemplate")
    zones = zones_of(plan, resource, RESOURCES, ("subnets",), zone_names)
    types = _types(get_path(block, "instanceTypes")) or one_type(template)
    pool.set_list("types", types)
    pool.set("zones", UNKNOWN if zones.ids is None else list(zones.ids))
    if get_path(block, "placementGroup") is not None:
        set_placement(pool, plan, resource, RESOURCES, "placementGroup")
    else:
        set_template_placement(pool, plan, template)
    set_capacity(pool, template, market)
    interfaces = set_network(pool, template, subnet_gives_addresses(zones))
    if template.used:
        set_disk(pool, template)
    most = _set_nodes(
        pool, block, whole=market == "EC2" and get_path(block, "allocationStrategy") in (None, "BEST_FIT")
    )
    return build_pool(pool, resource, "batch", zones, interfaces, most)


def _types(value: object) -> Sequence[object]:
    """Instance types with families written out, `UNKNOWN` among them where one is."""
    if value is UNKNOWN:
        return [UNKNOWN]
    entries = items(value)
    named = distinct([each for entry in entries if isinstance(entry, str) for each in of_family(entry)])
    return named if all(isinstance(entry, str) for entry in entries) else [*named, UNKNOWN]


def _set_nodes(pool: PoolBuilder, block: object, whole: bool) -> dict[str, int]:
    """Set how many nodes there are; return the most by type. `whole`: no instance is begun that does not fit."""
    types = pool.known.get("types")
    records = [aws().types[name] for name in types if name in aws().types] if isinstance(types, list) else []
    counted = len(records) == len(types) if isinstance(types, list) else False
    limits = {word: get_path(block, name) for word, name in (("min", "minVcpus"), ("max", "maxVcpus"))}
    desired = get_path(block, "desiredVcpus")
    limits["desired"] = limits["min"] if desired is None else desired
    most: dict[str, int] = {}
    for word, value in limits.items():
        vcpus = 0 if value is None and word != "max" else number(value)
        if vcpus is None or not records or not counted:
            # Types that are not known say nothing, not even zero nodes, but for a limit of none.
            pool.set(word, 0 if vcpus == 0 else UNKNOWN)
        elif word == "max":
            most = {each.type: _count(vcpus, each.vcpus, whole) for each in records}
            pool.set(word, max(most.values()))
        else:
            pool.set(word, _count(vcpus, max(each.vcpus for each in records), whole=False))
    return most


def _count(vcpus: int, each: int, whole: bool) -> int:
    """Instances of `each` vCPUs in a number of vCPUs; a part of one counts unless only whole ones do."""
    return vcpus // each if whole else math.ceil(vcpus / each)
