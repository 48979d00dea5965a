"""Usage as text and as JSON data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from gpufleet.usage.allocation import GpuAllocation
from gpufleet.usage.rows import Price, UsageRow, total_row, usage_rows

_KNOWN = {
    "kubernetes": "what the cluster still knows, about a day",
    "batch": "what AWS Batch still knows, about a week",
    "azure-batch": "what Azure Batch still knows: jobs of 30 days that nobody has deleted",
}
"""How far back what runs the jobs knows them; Slurm's accounting knows all."""


@dataclass(frozen=True)
class UsageSummary:
    """Usage between two times. by: one of `gpufleet.usage.rows.GROUPINGS`. ledger: whether there is a ledger. on: what
    runs the jobs."""

    environment: str
    by: str
    since: datetime
    until: datetime
    records: Sequence[GpuAllocation]
    price: Price
    ledger: bool
    on: str = "kubernetes"

    @property
    def rows(self) -> list[UsageRow]:
        return usage_rows(self.records, self.since, self.until, self.by, self.price)

    def lines(self) -> Iterator[str]:
        """A table, and notes below."""
        rows, whole = self.rows, total_row(self.rows)
        width = max([len(self.by), 3, *(len(row.name) for row in rows)])
        yield f"{self.by:<{width}}  {'jobs':>6}  {'GPU-hours':>12}  {'USD':>12}"
        for row in [*rows, whole] if len(rows) > 1 else rows or [whole]:
            yield f"{row.name:<{width}}  {row.jobs:>6,}  {row.gpu_hours:>12,.2f}  {_usd(row):>12}".rstrip()
        if whole.unpriced:
            yield (
                f"{self.environment}: {whole.unpriced:,.2f} GPU-hours have no price and are in no sum "
                f"({', '.join(self._unpriced())}); own servers get one by gpufleet:usd_per_gpu_hour"
            )
        if whole.inexact:
            hours = f"of {whole.inexact:,.2f} GPU-hours"
            yield f"{self.environment}: {hours} begin or end is not the pod's own, which was gone"
        if not self.ledger and self.on in _KNOWN:
            yield f"{self.environment}: without --record this is {_KNOWN[self.on]}"
        elif self.ledger and (not self.records or self.records[0].start > self.since):
            begins = f"{self.records[0].start:%Y-%m-%d %H:%M} UTC" if self.records else "now"
            yield f"{self.environment}: nothing is recorded before {begins}"
        yield "Held GPUs only, at their part of the node's price: no idle nodes, no disks, no network."

    def as_json(self) -> dict[str, Any]:
        """Frozen: scripts outlive releases."""
        return {
            "environment": self.environment,
            "by": self.by,
            "since": self.since.isoformat(timespec="seconds"),
            "until": self.until.isoformat(timespec="seconds"),
            "rows": [_row(row) for row in self.rows],
            "all": _row(total_row(self.rows)),
        }

    def _unpriced(self) -> list[str]:
        """Where GPUs without a price are."""
        held = [each for each in self.records if each.seconds(self.since, self.until) and self.price(each) is None]
        return sorted({each.pool or each.type or "no pool" for each in held})


def _usd(row: UsageRow) -> str:
    if row.unpriced and not row.usd:
        return "unknown"
    return f"{row.usd:,.2f}{' and more' if row.unpriced else ''}"


def _row(row: UsageRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "jobs": row.jobs,
        "gpuHours": round(row.gpu_hours, 6),
        "usd": None if row.unpriced and not row.usd else round(row.usd, 4),
        "gpuHoursWithoutPrice": round(row.unpriced, 6),
        "gpuHoursInexact": round(row.inexact, 6),
    }
