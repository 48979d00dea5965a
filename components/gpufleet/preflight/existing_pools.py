"""Existing pools of a stack: their nodes are among what the account says is in use."""

from collections.abc import Collection
from dataclasses import replace

from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.quota_demand import QuotaDemand
from gpufleet.plan.quota_limits import QuotaLimit
from gpufleet.preflight.query_results import QueryRunner


def pool_exists(pool: PlannedPool) -> bool:
    """Whether the account has this pool already, as far as the plan says."""
    return pool.resource.operation not in ("create", "import")


def without_own_nodes(
    need: QuotaDemand, limit: QuotaLimit, existing: Collection[str], queries: QueryRunner
) -> QuotaLimit:
    """The limit, with what is in use beside the stack's own nodes.

    existing: names of existing pools, whose nodes the account does not tell from others'. Where the sum would be
    too much because of them, what others use is not known.
    """
    own = [share.pool for share in need.shares if share.pool in existing]
    if not own or limit.in_use is None or (need.peak or 0) + limit.in_use <= limit.limit:
        return limit
    queries.add(f"{', '.join(own)}: running already, and the account does not tell its nodes from others'")
    return replace(limit, in_use=None)
