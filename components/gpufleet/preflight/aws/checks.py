"""The pools of a plan on AWS against what the account says."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.quota_demand import QuotaDemand, name_of, quota_demand
from gpufleet.plan.quota_limits import QuotaLimit
from gpufleet.plan.quotas import validate_quota_demand
from gpufleet.plan.resource import Plan
from gpufleet.preflight.aws.facts import AwsFacts, CapacityReservation, PlacementGroup
from gpufleet.preflight.existing_pools import pool_exists, without_own_nodes
from gpufleet.preflight.query_results import QueryResult, QueryRunner
from gpufleet.rules import coerce
from gpufleet.rules.aws.account_zones import zone_names_agree
from gpufleet.rules.aws.node_group_size import COUNTED, DEFAULT_NODES, nodes_within_quota
from gpufleet.rules.aws.placement_group import placement_group_usable
from gpufleet.rules.aws.reservation import reservation_market, reservation_usable
from gpufleet.rules.instance_types import type_in_zone
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Finding


def validate_aws(
    plan: Plan,
    pools: Sequence[PlannedPool],
    account: Callable[[str], AwsFacts],
    queries: QueryRunner,
    zone_names: Mapping[str, str],
    limits: Sequence[QuotaLimit],
) -> list[ResourceFinding]:
    """Every finding, passes included. account: the account seen in a region. zone_names: those of the configuration.

    limits: those of the configuration, for what the account does not tell.
    """
    found: list[ResourceFinding] = []
    asked: list[QuotaLimit] = list(limits)
    regions = list(dict.fromkeys(pool.region for pool in pools))
    for region in regions:
        here = [pool for pool in pools if pool.region == region]
        if region is None:
            queries.add(f"{', '.join(name_of(pool, plan) for pool in here)}: the region is not known at preview")
            continue
        facts = account(region)
        if zone_names:
            names = queries.ask(facts.zone_names).value
            found.append(ResourceFinding(plan.stack, zone_names_agree(given=zone_names, known=names)))
        found += _offers(plan, here, queries.ask(facts.zones_with, _types(here)))
        for pool in here:
            found += _node_quota(plan, pool, facts, queries)
            found += _reserved(plan, pool, facts, queries)
            found += _grouped(plan, pool, facts, queries)
        # Nodes of our components are distinguished by their tags.
        existing = {
            name_of(pool, plan) for pool in here if name_of(pool, plan) == pool.resource.name and pool_exists(pool)
        }
        for need, limit in _limits(quota_demand(here, plan), facts, queries):
            asked.append(without_own_nodes(need, limit, existing, queries))
    return [*found, *validate_quota_demand(plan.stack, quota_demand(pools, plan), asked)]


def _types(pools: Iterable[PlannedPool]) -> list[str]:
    return sorted({name for pool in pools for name in coerce.texts(pool.intent, "types")})


def _offers(
    plan: Plan, pools: Iterable[PlannedPool], answer: QueryResult[Mapping[str, Sequence[str]]]
) -> list[ResourceFinding]:
    offers = answer.value
    return [
        _resource_finding(
            plan,
            pool,
            type_in_zone(type_name=name, zone=zone, zones=None if offers is None else offers.get(name, ())),
        )
        for pool in pools
        for zone in coerce.texts(pool.intent, "zones")
        for name in coerce.texts(pool.intent, "types")
    ]


def _node_quota(plan: Plan, pool: PlannedPool, facts: AwsFacts, queries: QueryRunner) -> list[ResourceFinding]:
    """Asked for only where a node group may be above the default: nobody has less."""
    most = coerce.whole(pool.intent, "max", 0) if coerce.is_whole(pool.intent.get("max")) else 0
    if pool.kind != "node-group" or most <= DEFAULT_NODES:
        return []
    limit = queries.ask(facts.resource_limit, COUNTED).value
    finding = nodes_within_quota(most=most, limit=limit, region=pool.region or "")
    return [_resource_finding(plan, pool, finding)]


def _reserved(plan: Plan, pool: PlannedPool, facts: AwsFacts, queries: QueryRunner) -> list[ResourceFinding]:
    wanted = coerce.text(pool.intent, "reservation_id")
    if not wanted:
        return []
    answer = queries.ask(facts.reservation, wanted)
    findings = [
        reservation_usable(
            reservation_id=wanted,
            types=coerce.texts(pool.intent, "types"),
            zones=coerce.texts(pool.intent, "zones"),
            most=coerce.whole(pool.intent, "max", 0) if coerce.is_whole(pool.intent.get("max")) else None,
            found=_said_of_reservation(answer),
        )
    ]
    if answer.value is not None:
        capacity = coerce.text(pool.intent, "capacity")
        findings.append(reservation_market(reservation_id=wanted, capacity=capacity, kind=answer.value.kind))
    return [_resource_finding(plan, pool, each) for each in findings]


def _said_of_reservation(answer: QueryResult[CapacityReservation | None]) -> Mapping[str, object] | None:
    if not answer.known:
        return None
    held = answer.value
    return {} if held is None else vars(held)


def _grouped(plan: Plan, pool: PlannedPool, facts: AwsFacts, queries: QueryRunner) -> list[ResourceFinding]:
    wanted = coerce.text(pool.intent, "placement_group")
    if not wanted:
        return []
    answer: QueryResult[PlacementGroup | None] = queries.ask(facts.placement_group, wanted)
    held = {} if answer.value is None else vars(answer.value)
    finding = placement_group_usable(placement_group=wanted, found=held if answer.known else None)
    return [_resource_finding(plan, pool, finding)]


def _limits(
    wanted: Iterable[QuotaDemand], facts: AwsFacts, queries: QueryRunner
) -> list[tuple[QuotaDemand, QuotaLimit]]:
    """What the account says of each quota that is needed. What it does not tell is left to the configuration's."""
    found: list[tuple[QuotaDemand, QuotaLimit]] = []
    use: dict[str, Mapping[str, int] | None] = {}
    for need in wanted:
        if need.family is None or need.market is None:
            continue
        limit = queries.ask(facts.limit, need.family, need.market).value
        if limit is None:
            continue
        if need.market not in use:
            use[need.market] = queries.ask(facts.in_use, need.market).value
        by_family = use[need.market]
        in_use = None if by_family is None else by_family.get(need.family, 0)
        found.append((need, QuotaLimit(need.family, need.market, limit, in_use)))
    return found


def _resource_finding(plan: Plan, pool: PlannedPool, finding: Finding) -> ResourceFinding:
    return ResourceFinding(name_of(pool, plan), finding, pool.resource.urn)
