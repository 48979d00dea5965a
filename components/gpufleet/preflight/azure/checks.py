"""The pools of a plan on Azure against what the subscription says."""

from collections.abc import Callable, Iterable, Sequence

from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.quota_demand import QuotaDemand, name_of, quota_demand
from gpufleet.plan.quota_limits import ALL, QuotaLimit, plain_family
from gpufleet.plan.quotas import validate_quota_demand
from gpufleet.plan.resource import Plan
from gpufleet.preflight.azure.facts import AzureFacts, BatchAccountQuota
from gpufleet.preflight.existing_pools import pool_exists, without_own_nodes
from gpufleet.preflight.query_results import QueryRunner
from gpufleet.rules import coerce
from gpufleet.rules.azure.subscription import size_unrestricted
from gpufleet.rules.resource_finding import ResourceFinding


def validate_azure(
    plan: Plan,
    pools: Sequence[PlannedPool],
    account: Callable[[str], AzureFacts],
    queries: QueryRunner,
    limits: Sequence[QuotaLimit],
) -> list[ResourceFinding]:
    """Every finding, passes included. account: the subscription seen in a region.

    limits: those of the configuration, for what the subscription does not tell.
    """
    found: list[ResourceFinding] = []
    asked: list[QuotaLimit] = list(limits)
    for region in dict.fromkeys(pool.region for pool in pools):
        here = [pool for pool in pools if pool.region == region]
        if region is None:
            queries.add(f"{', '.join(name_of(pool, plan) for pool in here)}: the region is not known at preview")
            continue
        facts = queries.ask(account, region).value
        for pool in here:
            for size in _sizes(pool):
                size_finding = _size(plan, pool, region, size, facts, queries)
                # A Batch pool with dedicated and low-priority nodes is two pools of one resource.
                found += [] if size_finding in found else [size_finding]
        if facts is not None:
            # A Batch account's pools are distinguished by their names.
            existing = {name_of(pool, plan) for pool in here if pool.kind != "batch-pool" and pool_exists(pool)}
            for need, limit in _limits(quota_demand(here, plan), facts, queries):
                asked.append(without_own_nodes(need, limit, existing, queries))
    return [*found, *validate_quota_demand(plan.stack, quota_demand(pools, plan), asked)]


def _sizes(pool: PlannedPool) -> Sequence[str]:
    return coerce.texts(pool.intent, "types")


def _size(
    plan: Plan, pool: PlannedPool, region: str, size: str, facts: AzureFacts | None, queries: QueryRunner
) -> ResourceFinding:
    answer = queries.ask(facts.sku, size) if facts is not None else None
    known = answer is not None and answer.known
    sku = answer.value if answer is not None else None
    finding = size_unrestricted(
        size=size,
        region=region,
        # eastus-1 is the subscription's zone 1; auto is not a zone.
        zones=[zone for each in coerce.texts(pool.intent, "zones") if (zone := each.rpartition("-")[2]).isdigit()],
        offered=None if not known else sku.zones if sku else (),
        restrictions=None
        if not known
        else sku.restrictions
        if sku
        else (("Location", "the list has no such size", ()),),
    )
    return ResourceFinding(name_of(pool, plan), finding, pool.resource.urn)


def _limits(
    wanted: Iterable[QuotaDemand], facts: AzureFacts, queries: QueryRunner
) -> list[tuple[QuotaDemand, QuotaLimit]]:
    """What Azure says of each quota that is needed. What it does not tell is left to the configuration's."""
    found: list[tuple[QuotaDemand, QuotaLimit]] = []
    for need in wanted:
        if need.family is None or need.market is None:
            continue
        limit = (
            _of_batch(need, need.family, need.market, facts, queries)
            if need.account
            else _of_subscription("", need.family, need.market, facts, queries)
        )
        if limit is not None:
            found.append((need, limit))
    return found


def _of_subscription(
    account: str, family: str, market: str, facts: AzureFacts, queries: QueryRunner
) -> QuotaLimit | None:
    usage = queries.ask(facts.usage, family, market).value
    return None if usage is None else QuotaLimit(family, market, usage.limit, usage.in_use, account)


def _of_batch(
    need: QuotaDemand, family: str, market: str, facts: AzureFacts, queries: QueryRunner
) -> QuotaLimit | None:
    """The limit of the Batch account itself, or of the subscription for an account that allocates there."""
    answer = queries.ask(facts.batch, need.account)
    if answer.known and answer.value is None:
        queries.add(
            f"Batch account {need.account}: is not there yet; the core quota of a new account may be 0, and is known "
            "when it has been made"
        )
    batch = answer.value
    if batch is None:
        return None
    if not batch.own_quota:
        return _of_subscription(need.account, family, market, facts, queries)
    limit = _quota(batch, family, market)
    return (
        None
        if limit is None
        else QuotaLimit(family, market, limit, batch.used.get((plain_family(family), market), 0), need.account)
    )


def _quota(batch: BatchAccountQuota, family: str, market: str) -> int | None:
    if market == "spot":
        return batch.low_priority
    if family == ALL:
        return batch.dedicated
    if batch.by_family is None:
        return None
    return batch.by_family.get(plain_family(family))
