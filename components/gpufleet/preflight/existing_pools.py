"""Pools of a stack that stand already: their nodes are among what the account says is in use."""

from collections.abc import Collection
from dataclasses import replace

from gpufleet.plan.pools import PlannedPool
from gpufleet.plan.quota_demand import QuotaDemand
from gpufleet.plan.quota_limits import Limit
from gpufleet.preflight.query_results import Doubts


def stands(pool: PlannedPool) -> bool:
    """Whether the account has this pool already, as far as the plan says."""
    return pool.resource.operation not in ("create", "import")


def beside(need: QuotaDemand, limit: Limit, standing: Collection[str], doubts: Doubts) -> Limit:
    """The limit, with what is in use beside the stack's own nodes.

    standing: names of pools that stand, and whose nodes the account does not tell from others'. Where the sum would be
    too much because of them, what others use is not known.
    """
    own = [share.pool for share in need.shares if share.pool in standing]
    if not own or limit.in_use is None or (need.peak or 0) + limit.in_use <= limit.limit:
        return limit
    doubts.add(f"{', '.join(own)}: running already, and the account does not tell its nodes from others'")
    return replace(limit, in_use=None)
