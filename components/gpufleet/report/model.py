"""The report as data. Its JSON is the source of truth; every other format is rendered from it.

`schema.json` is generated from these classes (`tools/generate.py`). Fields are only ever added; removing one or
changing its meaning raises `SCHEMA`. Money is USD by list price, before tax; a month has 730 hours.
"""

from dataclasses import dataclass, field
from typing import Literal

SCHEMA = 1

Verdict = Literal["failed", "refused", "warned", "passed"]
"""failed: the preview ended with an error. refused: a rule or a mandatory policy is broken. warned: a warning, or a
check that could not be run. passed: none of these."""


@dataclass(frozen=True, slots=True)
class CostAmount:
    """One figure before and after. complete: whether everything in `after` has a known price and amount; otherwise
    the figures are lower bounds. usd_month_before: null if there is nothing to compare with."""

    usd_month_before: float | None
    usd_month_after: float
    usd_month_change: float | None
    complete: bool


@dataclass(frozen=True, slots=True)
class CostSummary:
    """floor: what is always paid. steady: a month as the assumptions have it. ceiling: the most that may run.

    busy_month: every pool with max nodes in the busy hours and min in all others. Unlike steady, it changes with the
    type of a pool of which no node is desired yet. committed: the part of each of these that is nodes on reservations
    bought elsewhere. They are paid with or without this stack, so a change takes effect only when the reservation
    itself changes.
    """

    floor: CostAmount
    steady: CostAmount
    busy_month: CostAmount
    ceiling: CostAmount
    committed: CostAmount


@dataclass(frozen=True, slots=True)
class Property:
    """One property that changes.

    path: as the engine writes it, such as scalingConfig.maxSize. before, after: the values as JSON, null where there is
    none; "[secret]" for what is never shown. replaces: whether it cannot be changed in place.
    """

    path: str
    before: str | None
    after: str | None
    replaces: bool


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """What happens to one resource.

    operation: replace, delete, update, create, import, read, or change where only two previews are compared.
    holds: data that is lost with it; ends: work that ends with it; both empty where nothing is known of the type.
    guarded: what keeps the cloud from deleting it. protected: the engine refuses to delete it. retained: it stays in
    the cloud and only leaves the stack. part_of: URN of what it is a part of, as a tag is of its node group.
    """

    urn: str
    type: str
    name: str
    operation: str
    holds: str
    ends: str
    guarded: str
    protected: bool
    retained: bool
    replaced_for: list[str]
    properties: list[Property]
    part_of: str = ""

    @property
    def loses_data(self) -> bool:
        """Whether the change deletes data."""
        return bool(self.holds) and not self.retained


@dataclass(frozen=True, slots=True)
class GpuPoolState:
    """A pool on one side of the change. types: of its nodes. least, most: nodes. gpus: at most. zones: ids; empty
    where not known. market: on-demand, spot, reservation, capacity-block. usd_hour: at least and at most, by list
    price, null where a price is not known. usd_gpu_hour: of one GPU with all nodes running. quotas: what the pool needs
    at its most, such as `192 vCPUs of P on-demand`; empty for capacity that is reserved."""

    types: list[str]
    least: int | None
    most: int | None
    gpus: int | None
    zones: list[str]
    market: str | None
    placement: str | None
    usd_hour_least: float | None
    usd_hour_most: float | None
    usd_gpu_hour: float | None = None
    quotas: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class GpuPool:
    """A pool with GPUs, before and after; null where it is not there."""

    name: str
    urn: str
    operation: str
    before: GpuPoolState | None
    after: GpuPoolState | None


@dataclass(frozen=True, slots=True)
class SuppressionRecord:
    """Why a finding is suppressed, and the last day of the suppression."""

    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding. source: gpufleet, preview, or a policy pack's name. status: fail or unverified. known: whether it was
    there before too; null where that is not known. line: the one line that users see."""

    resource: str
    urn: str
    rule: str
    severity: Literal["error", "warning", "info"]
    status: Literal["fail", "unverified"]
    line: str
    fix: str
    source: str
    known: bool | None
    suppressed: SuppressionRecord | None

    @property
    def rejects(self) -> bool:
        return self.severity == "error" and self.status == "fail" and self.suppressed is None


@dataclass(frozen=True, slots=True)
class RemainingBudget:
    """A budget of the stack, and what remains of it after the change; null: not known."""

    name: str
    urn: str
    usd_month: float | None
    left_steady: float | None
    left_ceiling: float | None


@dataclass(frozen=True, slots=True)
class DataStore:
    """A resource that stores data, for the diagram."""

    name: str
    kind: str
    operation: str
    zones: list[str]


@dataclass(frozen=True, slots=True)
class Surrounding:
    """A network or a cluster that the pools lie in, for the diagram. kind: `network` or `cluster`. detail: its address
    range, or its version; empty if unknown."""

    name: str
    kind: str
    detail: str
    operation: str


@dataclass(frozen=True, slots=True)
class StackReport:
    """One stack. summary: operation -> resources. notes: remarks on how it was made. gone: findings that were there
    before. compared: whether there was anything to compare findings with."""

    project: str
    stack: str
    verdict: Verdict
    cost: CostSummary | None
    changes: list[ResourceChange]
    unchanged: int
    summary: dict[str, int]
    gpus: list[GpuPool]
    stored: list[DataStore]
    issues: list[Issue]
    checks_passed: int
    budgets: list[RemainingBudget]
    unpriced: list[str]
    assumptions: list[str]
    notes: list[str]
    gone: list[Issue] = field(default_factory=list)
    compared: bool = False
    surroundings: list[Surrounding] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.project}/{self.stack}"

    @property
    def destructive(self) -> list[ResourceChange]:
        """Replacements and deletions, those that lose data first."""
        found = [each for each in self.changes if each.operation in ("replace", "delete")]
        return sorted(found, key=lambda each: (not each.loses_data, not each.ends, each.operation, each.name))

    @property
    def failures(self) -> list[Issue]:
        """Failed findings that are not suppressed."""
        return [each for each in self.issues if each.suppressed is None and each.status == "fail"]

    @property
    def unverified(self) -> list[Issue]:
        return [each for each in self.issues if each.suppressed is None and each.status == "unverified"]

    @property
    def suppressions(self) -> list[Issue]:
        return [each for each in self.issues if each.suppressed is not None]


@dataclass(frozen=True, slots=True)
class Footer:
    """The sources of the figures. catalog: cloud -> edition. prices_from, prices_to: days of the oldest and newest
    price that takes part."""

    gpufleet: str
    commit: str | None
    day: str
    catalog: dict[str, str]
    prices_from: str | None
    prices_to: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """The report on all stacks that a change affects. total: null if no stack could be priced."""

    schema: int
    verdict: Verdict
    total: CostSummary | None
    stacks: list[StackReport]
    footer: Footer
