"""Whether the budgets of a user and of a project allow another job."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from gpufleet.usage.allocation import GpuAllocation
from gpufleet.usage.rows import Price, usage_rows

_OF = {"users": "user", "projects": "project"}


@dataclass(frozen=True)
class SpentBudget:
    """A budget that is spent. rejects: whether it lets no further job in. line: one line for the user."""

    rejects: bool
    line: str


def month_start(now: datetime) -> datetime:
    """The begin of the calendar month, UTC."""
    return datetime(now.year, now.month, 1, tzinfo=UTC)


def budgets_for(budgets: Mapping[str, Any], user: str, project: str) -> list[tuple[str, str, Mapping[str, Any]]]:
    """The budgets that a job of this user and project counts on: users or projects, the name, and the budget."""
    whose = (("users", user), ("projects", project))
    found = ((kind, name, (budgets.get(kind) or {}).get(name)) for kind, name in whose)
    return [(kind, name, budget) for kind, name, budget in found if budget]


def spent_budgets(
    environment: str,
    budgets: Iterable[tuple[str, str, Mapping[str, Any]]],
    records: Iterable[GpuAllocation],
    price: Price,
    now: datetime,
) -> Iterator[SpentBudget]:
    """Those of `budgets_for` that this month's GPU-hours have used up. GPU-hours without a price count nothing."""
    held, month = list(records), f"{now:%B %Y}"
    for kind, name, budget in budgets:
        rows = {row.name: row for row in usage_rows(held, month_start(now), now, _OF[kind], price)}
        usd, limit = (rows[name].usd if name in rows else 0.0), float(budget["usd_per_month"])
        if usd < limit:
            continue
        spent = f"{environment}: {_OF[kind]}={name}: the budget of ${limit:,.2f} for {month} is spent (${usd:,.2f})"
        if budget.get("at_end", "refuse") == "warn":
            yield SpentBudget(False, f"{spent}; the job is submitted all the same")
        else:
            raised = f"raise gpufleet:budgets.{kind}.{name}.usd_per_month and run `pulumi up`"
            yield SpentBudget(True, f"{spent}; wait for the next month, or {raised}")
