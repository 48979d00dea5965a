"""An estimate as JSON data. docs/cost.md describes the fields; fields are only ever added."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpufleet.cost.charges import free_reason
from gpufleet.cost.estimate import Estimate
from gpufleet.cost.line_item import FIGURES, LineItem, Total, total_of
from gpufleet.cost.pool_cost import PoolCost
from gpufleet.cost.prices import catalog_of
from gpufleet.cost.usage_assumptions import HOURS
from gpufleet.rules.resource_finding import ResourceFinding

SCHEMA = 1
"""Version of the format; it changes when a field is removed or changes its meaning."""


def estimate_to_dict(cost: Estimate, seen_on: str, findings: Sequence[ResourceFinding]) -> dict[str, Any]:
    """The whole estimate. seen_on: where its plan is from, in words. findings: of the rules on cost."""
    return {
        "schema": SCHEMA,
        "stack": cost.stack,
        "seen_on": seen_on,
        "today": cost.today.isoformat(),
        "catalog": {cloud: catalog_of(cloud).edition for cloud in cost.clouds},
        "hours_per_month": HOURS,
        "totals": {figure: _total(each) for figure, each in cost.totals.items()},
        "ceiling_without_committed": _total(cost.gated),
        "busy_month": _total(cost.busy_month),
        "pools": [_pool(pool, cost) for pool in cost.pools],
        "other": [_line(line, cost) for line in cost.other_lines],
        "assumptions": cost.usage.as_args(),
        "unknown": cost.unknowns,
        "old_prices": cost.old,
        "free": {kind: {"count": number, "why": free_reason(kind)} for kind, number in sorted(cost.free.items())},
        "not_priced": dict(sorted(cost.not_priced.items())),
        "findings": [_finding(judged) for judged in findings],
    }


def _pool(pool: PoolCost, cost: Estimate) -> dict[str, Any]:
    spot = pool.spot
    return {
        "name": pool.name,
        "urn": pool.planned.resource.urn,
        "cloud": pool.planned.cloud,
        "kind": pool.planned.kind,
        "region": pool.planned.region,
        "types": list(pool.types),
        "capacity": pool.capacity,
        "committed": pool.committed,
        "gpus_per_node": pool.gpus,
        "min": pool.least,
        "max": pool.most,
        "nodes": _figures(pool.nodes.of(figure) for figure in FIGURES),
        "spot_usd_per_node_hour": {"low": spot.low, "high": spot.high, "as_of": spot.as_of} if spot else None,
        "totals": {figure: _total(total_of(pool.lines, figure)) for figure in FIGURES},
        "lines": [_line(line, cost) for line in pool.lines],
    }


def _line(line: LineItem, cost: Estimate) -> dict[str, Any]:
    price = line.price
    return {
        "what": line.what,
        "resources": list(line.resources),
        "price": {
            "usd": price.usd,
            "unit": price.unit,
            "source": price.source or None,
            "as_of": price.as_of or None,
            "old": price.is_old(cost.today),
        },
        "amounts": _figures(line.amounts.of(figure) for figure in FIGURES),
        "usd_per_month": _figures(line.month(figure) for figure in FIGURES),
        "committed": line.committed,
        "note": line.note,
        "unknown": line.reason or None,
    }


def _total(each: Total) -> dict[str, Any]:
    return {
        "usd_per_hour": round(each.hour, 6),
        "usd_per_month": round(each.month, 6),
        "complete": each.complete,
        "unknown_lines": each.unknown,
    }


def _figures(values: Iterable[float | None]) -> Mapping[str, float | None]:
    return {figure: None if value is None else round(value, 6) for figure, value in zip(FIGURES, values, strict=True)}


def _finding(judged: ResourceFinding) -> dict[str, Any]:
    return {
        "resource": judged.resource,
        "urn": judged.urn,
        "rule": judged.finding.rule,
        "severity": judged.finding.severity.value,
        "status": judged.finding.status.value,
        "refuses": judged.rejects,
        "line": judged.line,
        "suppressed": judged.suppression.text if judged.suppression else None,
    }
