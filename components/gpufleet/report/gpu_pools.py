"""The pools with GPUs on both sides of a change."""

from collections.abc import Mapping, Sequence

from gpufleet.cost.estimate import Estimate
from gpufleet.cost.line_item import total_of
from gpufleet.cost.pool_cost import PoolCost
from gpufleet.plan.quota_demand import QuotaDemand, quota_demand
from gpufleet.report.model import GpuPool, GpuPoolState, ResourceChange
from gpufleet.rules.messages import plural


def gpu_pools(before: Estimate | None, after: Estimate, changes: Sequence[ResourceChange]) -> list[GpuPool]:
    """Every pool with GPUs, or whose types are not known, by name."""
    old = _pools(before)
    new = _pools(after)
    operations = {change.urn: change.operation for change in changes}
    found = []
    for urn in {**old, **new}:
        one, other = old.get(urn), new.get(urn)
        known = other or one
        assert known is not None
        found.append(
            GpuPool(
                name=known.name,
                urn=urn,
                operation=operations.get(urn, "same"),
                before=_side(one) if one else None,
                after=_side(other) if other else None,
            )
        )
    return sorted(found, key=lambda pool: (pool.name, pool.urn))


def _pools(estimate: Estimate | None) -> Mapping[str, PoolCost]:
    pools = estimate.pools if estimate else ()
    return {pool.planned.resource.urn: pool for pool in pools if pool.planned.gpu is not False}


def _side(pool: PoolCost) -> GpuPoolState:
    words = pool.planned.intent
    zones = words.get("zones")
    placement = words.get("placement")
    hours = [total_of(pool.lines, figure) for figure in ("floor", "ceiling")]
    least, most = (round(each.hour, 4) if each.complete else None for each in hours)
    return GpuPoolState(
        types=list(pool.types),
        least=pool.least,
        most=pool.most,
        gpus=pool.most_gpus,
        zones=[str(zone) for zone in zones] if isinstance(zones, Sequence) else list(pool.planned.places),
        market=pool.capacity,
        placement=placement if isinstance(placement, str) else None,
        usd_hour_least=least,
        usd_hour_most=most,
        usd_gpu_hour=round(most / pool.most_gpus, 4) if most is not None and pool.most_gpus else None,
        quotas=[_quota_text(each) for each in quota_demand([pool.planned])],
    )


def _quota_text(demand: QuotaDemand) -> str:
    """192 vCPUs of P on-demand."""
    size = "vCPUs not known" if demand.peak is None else plural(demand.peak, "vCPU")
    return " ".join((size, "of", demand.family or "a family not known", demand.market or "")).strip()
