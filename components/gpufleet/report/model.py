"""What a report says, as data. Its JSON is the source of truth, and every other form is made from it.

`schema.json` is generated from these classes (`tools/generate.py`). Fields only ever become more; one that goes, or
means something else, makes another `SCHEMA`. Money is USD by list price, before tax; a month has 730 hours.
"""

from dataclasses import dataclass
from typing import Literal

SCHEMA = 1

Verdict = Literal["failed", "refused", "warned", "passed"]
"""failed: the preview ended with an error. refused: a rule or a mandatory policy is broken. warned: a warning, or a
check that could not be made. passed: none of these."""


@dataclass(frozen=True, slots=True)
class Amount:
    """One figure before and after. complete: whether everything in `after` has a known price and amount; otherwise
    the figures are the least that it costs. usd_month_before: null where nothing was there to compare with."""

    usd_month_before: float | None
    usd_month_after: float
    usd_month_change: float | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Money:
    """floor: what is always paid. steady: a month as the assumptions have it. ceiling: the most that may run.

    committed: what of each of the three is nodes on reservations that were bought elsewhere. They are paid with or
    without this stack, so that a change of it is only real once the reservation itself is changed.
    """

    floor: Amount
    steady: Amount
    ceiling: Amount
    committed: Amount


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
class Change:
    """What happens to one resource.

    operation: replace, delete, update, create, import, read, or change where only two previews are compared.
    holds: data that is lost with it; ends: work that ends with it; both empty where nothing is known of the type.
    guarded: what keeps the cloud from deleting it. protected: the engine refuses to delete it. retained: it stays in
    the cloud and only leaves the stack.
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

    @property
    def loses(self) -> bool:
        """Whether data goes if it is carried out."""
        return bool(self.holds) and not self.retained


@dataclass(frozen=True, slots=True)
class GpuSide:
    """A pool on one side of the change. types: of its nodes. least, most: nodes. gpus: at most. zones: ids; empty
    where not known. market: on-demand, spot, reservation, capacity-block. usd_hour: at least and at most, by list
    price, null where a price is not known."""

    types: list[str]
    least: int | None
    most: int | None
    gpus: int | None
    zones: list[str]
    market: str | None
    placement: str | None
    usd_hour_least: float | None
    usd_hour_most: float | None


@dataclass(frozen=True, slots=True)
class GpuPool:
    """A pool with GPUs, before and after; null where it is not there."""

    name: str
    urn: str
    operation: str
    before: GpuSide | None
    after: GpuSide | None


@dataclass(frozen=True, slots=True)
class Suppressed:
    """Why a finding does not count, and the last day on which it does not."""

    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class Issue:
    """A finding. source: gpufleet, preview, or a policy pack's name. status: fail or unverified. known: whether the
    state before had it too; null where there was none to judge. line: the one line that users see."""

    resource: str
    urn: str
    rule: str
    severity: Literal["error", "warning", "info"]
    status: Literal["fail", "unverified"]
    line: str
    fix: str
    source: str
    known: bool | None
    suppressed: Suppressed | None

    @property
    def refuses(self) -> bool:
        return self.severity == "error" and self.status == "fail" and self.suppressed is None


@dataclass(frozen=True, slots=True)
class BudgetLeft:
    """A budget of the stack, and what the figures after the change leave of it; null: not known."""

    name: str
    urn: str
    usd_month: float | None
    left_steady: float | None
    left_ceiling: float | None


@dataclass(frozen=True, slots=True)
class Stored:
    """What keeps data, for the diagram."""

    name: str
    kind: str
    operation: str
    zones: list[str]


@dataclass(frozen=True, slots=True)
class StackReport:
    """One stack. summary: operation -> resources. notes: what the reader has to know about how it was made."""

    project: str
    stack: str
    verdict: Verdict
    cost: Money | None
    changes: list[Change]
    unchanged: int
    summary: dict[str, int]
    gpus: list[GpuPool]
    stored: list[Stored]
    issues: list[Issue]
    checks_passed: int
    budgets: list[BudgetLeft]
    unpriced: list[str]
    assumptions: list[str]
    notes: list[str]

    @property
    def name(self) -> str:
        return f"{self.project}/{self.stack}"

    @property
    def destructive(self) -> list[Change]:
        """Replacements and deletions, those that lose data first."""
        found = [each for each in self.changes if each.operation in ("replace", "delete")]
        return sorted(found, key=lambda each: (not each.loses, not each.ends, each.operation, each.name))

    @property
    def counted(self) -> list[Issue]:
        """Findings that say something is wrong and that nobody has decided to live with."""
        return [each for each in self.issues if each.suppressed is None and each.status == "fail"]

    @property
    def unverified(self) -> list[Issue]:
        return [each for each in self.issues if each.suppressed is None and each.status == "unverified"]

    @property
    def suppressions(self) -> list[Issue]:
        return [each for each in self.issues if each.suppressed is not None]


@dataclass(frozen=True, slots=True)
class Footer:
    """Where the figures are from. catalog: cloud -> edition. prices_from, prices_to: days of the oldest and newest
    price that takes part."""

    gpufleet: str
    commit: str | None
    day: str
    catalog: dict[str, str]
    prices_from: str | None
    prices_to: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """One verdict on all stacks that a change touches. total: null where no stack could be priced."""

    schema: int
    verdict: Verdict
    total: Money | None
    stacks: list[StackReport]
    footer: Footer
