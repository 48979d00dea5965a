"""Checks of what a whole stack costs: ceilings, approval, idle nodes, a budget, unknown prices."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from typing import Any

from gpufleet.cost.estimate import Estimate, estimate
from gpufleet.cost.line_item import OLD_AFTER, Total, total_of
from gpufleet.cost.pool_cost import PoolCost
from gpufleet.cost.resources import is_billed
from gpufleet.cost.usage_assumptions import HOURS, UsageArgs, read_usage
from gpufleet.plan.azure.graph import AzureGraph
from gpufleet.plan.property_values import value_of
from gpufleet.plan.resource import Plan, Resource
from gpufleet.policies.configuration import PolicySettings
from gpufleet.policies.ownership import PROPERTIES as OWNERSHIP
from gpufleet.policies.ownership import validate_ownership
from gpufleet.rules import cost_limits
from gpufleet.rules.resource_finding import ResourceFinding

STACK_USD_MONTH = 50_000.0
POOL_USD_MONTH = 25_000.0
UNAPPROVED_GPUS = 16
DEV = "*dev*"

PROPERTIES: Mapping[str, dict[str, Any]] = {
    "stack_usd_month": {"type": "number", "description": f"Most USD a month for a stack. Default {STACK_USD_MONTH:g}."},
    "stack_usd_hour": {"type": "number", "description": "The same for an hour, instead of the month."},
    "pool_usd_month": {"type": "number", "description": f"Most USD a month for one pool. Default {POOL_USD_MONTH:g}."},
    "pool_usd_hour": {"type": "number", "description": "The same for an hour, instead of the month."},
    "unapproved_gpus": {
        "type": "integer",
        "description": f"On-demand GPUs that a stack may have without approval. Default {UNAPPROVED_GPUS}.",
    },
    "approved": {
        "type": "object",
        "description": "Pool -> on-demand GPUs that somebody has approved. Names as in messages, * is a wildcard.",
        "additionalProperties": {"type": "integer"},
    },
    "dev": {"type": "string", "description": f"Stacks for development, * is a wildcard. Default `{DEV}`."},
    "budget": {
        "type": "string",
        "enum": ["required", "elsewhere"],
        "description": "Where the budget is: in the stack (required, the default) or made elsewhere.",
    },
    "usage": {
        "type": "object",
        "description": f"Assumptions of the estimate: {', '.join(UsageArgs.__annotations__)}. See docs/cost.md.",
    },
}
"""JSON schema of each key that `validate_cost` reads."""

_BUDGETS = ("aws:budgets/budget:Budget",)
_AZURE_BUDGETS = ("consumption:Budget", "costmanagement:Budget")
_NAT = "aws:ec2/natGateway:NatGateway"


@dataclass(frozen=True)
class CostLimits:
    """The configuration of the policy with its defaults."""

    stack: float
    pool: float
    unapproved: int
    approved: Mapping[str, int]
    dev: bool
    budget_elsewhere: bool


def validate_cost_and_ownership(
    plan: Plan, config: Mapping[str, object], today: date | None = None
) -> list[ResourceFinding]:
    """Every finding on cost and on ownership. Errors: UserError for a configuration that makes no sense."""
    foreign = set(OWNERSHIP) - set(PROPERTIES)
    spent = validate_cost(plan, {key: value for key, value in config.items() if key not in foreign}, today)
    foreign = set(PROPERTIES) - set(OWNERSHIP)
    return [*spent, *validate_ownership(plan, {k: v for k, v in config.items() if k not in foreign}, today)]


def validate_cost(plan: Plan, config: Mapping[str, object], today: date | None = None) -> list[ResourceFinding]:
    """Every finding on what a plan costs. Errors: UserError for a configuration that makes no sense."""
    limits = read_limits(plan.stack, config)
    return validate_estimate(plan, estimate(plan, read_usage(config.get("usage"), "cost.usage"), today), limits)


def read_limits(stack: str, config: Mapping[str, object]) -> CostLimits:
    """The limits for a stack by a policy's configuration. Errors: UserError with one line for each fault."""
    settings = PolicySettings(config, "cost", PROPERTIES)
    limits = CostLimits(
        stack=_month(settings, "stack", STACK_USD_MONTH),
        pool=_month(settings, "pool", POOL_USD_MONTH),
        unapproved=settings.whole("unapproved_gpus", UNAPPROVED_GPUS),
        approved=settings.wholes("approved"),
        dev=fnmatchcase(stack, settings.text("dev", DEV)),
        budget_elsewhere=settings.word("budget", ("required", "elsewhere")) == "elsewhere",
    )
    settings.raise_faults()
    return limits


def validate_estimate(plan: Plan, cost: Estimate, limits: CostLimits) -> list[ResourceFinding]:
    """Every finding on an estimate of a plan."""
    unapproved = sum(pool.most_gpus or 0 for pool in _unapproved(cost, limits))
    return [
        _stack_ceiling(cost, limits),
        *(found for pool in cost.pools for found in _pool(pool, cost, limits, unapproved)),
        *_prices(plan, cost),
        ResourceFinding(cost.stack, cost_limits.budget(**_budget(plan), elsewhere=limits.budget_elsewhere)),
        *([_nat(plan, cost)] if limits.dev and plan.of_type(_NAT) else []),
    ]


def validate_price_age(cost: Estimate) -> ResourceFinding:
    """How old the prices of an estimate are.

    Not in the policy pack: it depends on the day and not on the change, so that no reviewer can do anything about it.
    """
    old = {line.price.of: line.price.as_of for _, line in cost.lines if line.price.is_old(cost.today)}
    return ResourceFinding(cost.stack, cost_limits.price_age(old=old, days=OLD_AFTER.days))


def _stack_ceiling(cost: Estimate, limits: CostLimits) -> ResourceFinding:
    dearest = max(cost.pools, key=lambda pool: _gated(pool).month, default=None)
    fits = 0
    if dearest is not None and dearest.most:
        # What one node of the dearest pool may take of the limit when everything else stays as it is.
        rest = cost.gated.month - _gated(dearest).month
        fits = _fitting(_gated(dearest).month / dearest.most, limits.stack - rest)
    finding = cost_limits.ceiling_stack(
        usd=cost.gated.month,
        complete=cost.gated.complete and not cost.not_priced,
        limit=limits.stack,
        pool=dearest.name if dearest else "",
        fits=fits,
    )
    return ResourceFinding(cost.stack, finding)


def _pool(pool: PoolCost, cost: Estimate, limits: CostLimits, unapproved: int) -> Iterator[ResourceFinding]:
    """unapproved: on-demand GPUs of all pools that nobody has approved."""
    urn = pool.planned.resource.urn
    ceiling = _gated(pool)
    if pool.most is not None:
        each = ceiling.month / pool.most if pool.most else 0.0
        finding = cost_limits.ceiling_pool(
            most=pool.most,
            usd=ceiling.month,
            complete=ceiling.complete,
            limit=limits.pool,
            fits=_fitting(each, limits.pool),
        )
        yield ResourceFinding(pool.name, finding, urn)
    if pool.planned.gpu is False:
        return
    if pool.capacity in ("on-demand", None):
        approved = _approved(pool, limits)
        finding = cost_limits.approved(
            pool=pool.name,
            most=pool.most,
            gpus=pool.most_gpus,
            others=unapproved - (pool.most_gpus or 0 if approved is None else 0),
            limit=limits.unapproved,
            approved=approved,
        )
        yield ResourceFinding(pool.name, finding, urn)
    if limits.dev and not pool.committed and pool.least is not None:
        floor = total_of(pool.lines, "floor")
        day = floor.hour * 24 if floor.complete else None
        yield ResourceFinding(pool.name, cost_limits.idle(least=pool.least, usd_day=day, environment=cost.stack), urn)


def _unapproved(cost: Estimate, limits: CostLimits) -> list[PoolCost]:
    """GPU pools on demand that nobody has approved."""
    return [
        pool
        for pool in cost.pools
        if pool.planned.gpu is not False and pool.capacity in ("on-demand", None) and _approved(pool, limits) is None
    ]


def _approved(pool: PoolCost, limits: CostLimits) -> int | None:
    """The GPUs that are approved for a pool, None for one without approval."""
    return next((gpus for name, gpus in limits.approved.items() if fnmatchcase(pool.name, name)), None)


def _prices(plan: Plan, cost: Estimate) -> Iterator[ResourceFinding]:
    """Each GPU node's price, and everything else in one finding: it is often missing, and weighs little."""
    billed = [resource for resource in plan.resources if is_billed(resource.type)]
    names = Counter(resource.name for resource in billed)
    # Resources of different types may share a name: then the line alone says which it is.
    urns = {resource.name: resource.urn for resource in billed if names[resource.name] == 1}
    lines = [
        (pool.name, pool.planned.resource.urn, pool.planned.gpu, line) for pool in cost.pools for line in pool.lines
    ]
    for line in cost.other_lines:
        first = next(iter(line.resources), "")
        # A machine that is reserved may have GPUs.
        lines.append((first or cost.stack, urns.get(first, ""), None, line))
    missing, undecided = list[str](), [kind.rpartition(":")[2] for kind in cost.not_priced]
    for name, urn, gpu, line in lines:
        # A line whose price is known may be unknown for its amount.
        known = True if not line.unknown else False if line.price.usd is None else None
        if line.price.node and gpu is not False:
            finding = cost_limits.price_known(what=line.what, reason=line.reason, known=known)
            yield ResourceFinding(name, finding, urn)
        elif not known:
            (missing if known is False else undecided).append(line.what)
    several = {"missing": list(dict.fromkeys(missing)), "undecided": list(dict.fromkeys(undecided))}
    yield ResourceFinding(cost.stack, cost_limits.minor_price_known(**several))


def _budget(plan: Plan) -> dict[str, Any]:
    azure = AzureGraph(plan)
    present = bool(plan.of_type(*_BUDGETS) or azure.of(*_AZURE_BUDGETS))
    kinds = "azure-native consumption.Budget" if azure.types else "aws.budgets.Budget, or gpufleet's Budget"
    return {"present": present, "kinds": kinds}


def _nat(plan: Plan, cost: Estimate) -> ResourceFinding:
    gateways: Sequence[Resource] = [
        each for each in plan.of_type(_NAT) if value_of(each, "connectivityType") != "private"
    ]
    line = next((line for line in cost.other_lines if line.what == "NAT gateway"), None)
    month = line.month("ceiling") if line else None
    return ResourceFinding(cost.stack, cost_limits.nat_gateways(number=len(gateways), usd_month=month))


def _gated(pool: PoolCost) -> Total:
    """A pool's ceiling without nodes that were bought elsewhere: they are paid for with or without this stack."""
    return total_of((line for line in pool.lines if not line.committed), "ceiling")


def _fitting(each: float, limit: float) -> int:
    """The largest number of nodes at a price that stay within a limit."""
    return max(0, int(limit // each)) if each > 0 else 0


def _month(settings: PolicySettings, subject: str, default: float) -> float:
    """A limit for a month; given for an hour it holds for 730 of them."""
    month, hour = f"{subject}_usd_month", f"{subject}_usd_hour"
    if settings.gives(month) and settings.gives(hour):
        settings.fault(f"{hour}: stands beside {month}; keep one of them")
    return settings.amount(hour, 0.0) * HOURS if settings.gives(hour) else settings.amount(month, default)
