"""Texts and figures that all formats of the report share."""

from collections.abc import Callable

from gpufleet.report.model import (
    CostAmount,
    CostSummary,
    GpuPool,
    GpuPoolState,
    Issue,
    Report,
    ResourceChange,
    StackReport,
    Verdict,
)
from gpufleet.report.parts import fold_parts, parts_text
from gpufleet.rules.messages import plural

VERDICT_LABELS: dict[Verdict, tuple[str, str]] = {
    "failed": ("\N{CROSS MARK}", "the preview failed"),
    "refused": ("\N{NO ENTRY}", "refused"),
    "warned": ("\N{WARNING SIGN}\N{VARIATION SELECTOR-16}", "passed with warnings"),
    "passed": ("\N{WHITE HEAVY CHECK MARK}", "passed"),
}
PAST_TENSE = {
    "replace": "replaced",
    "delete": "deleted",
    "update": "updated",
    "change": "changed",
    "create": "created",
    "import": "imported",
    "read": "read",
    "same": "unchanged",
}
DIFF_SIGNS = {"delete": "-", "create": "+", "import": "+"}
"""What `diff` colours a line by; everything else changes something that stays: !"""


def usd(amount: float | None, *, signed: bool = False) -> str:
    """$1,234.56, or "not known"."""
    if amount is None:
        return "not known"
    sign = "-" if amount < 0 else "+" if signed and amount > 0 else ""
    return f"{sign}${abs(amount):,.2f}"


def after_text(amount: CostAmount) -> str:
    return f"{'' if amount.complete else 'at least '}{usd(amount.usd_month_after)}"


LONGEST_REASON = 400
"""Characters; a message of a provider may have thousands."""


def reason(stack: StackReport) -> str:
    """What decides the verdict, with what to do about it, in one line: new findings first. Empty where nothing does.

    A warning that was there before is not what this change is about.
    """
    deciding = [each for each in stack.failures if _decides(stack.verdict, each)]
    deciding.sort(key=lambda each: each.known is True)
    if not deciding:
        return ""
    first = deciding[0]
    said = first.line
    if first.fix and first.fix not in said:
        said = f"{said}; {first.fix}"
    if len(said) > LONGEST_REASON:
        said = f"{said[: LONGEST_REASON - 3]}..."
    return said if len(deciding) == 1 else f"{said} (and {len(deciding) - 1} more)"


def _decides(verdict: Verdict, issue: Issue) -> bool:
    return issue.severity == "warning" and issue.known is False if verdict == "warned" else issue.severity == "error"


def verdict_line(stack: StackReport) -> str:
    """refused: trainers: max=2: costs up to ...; set max=1 or less [rule]."""
    return ": ".join(filter(None, (VERDICT_LABELS[stack.verdict][1], reason(stack))))


def known_mark(stack: StackReport, issue: Issue) -> str:
    """Whether a finding is new, in words; empty where there was nothing to compare with."""
    if not stack.compared:
        return ""
    return {True: "was there before", False: "new", None: "not known whether it is new"}[issue.known]


def headline(stack: StackReport) -> str:
    """The most important facts for a reviewer, in one line."""
    parts = []
    if stack.cost is not None:
        ceiling = stack.cost.ceiling
        if ceiling.usd_month_before is None:
            parts.append(f"at most {after_text(ceiling)} a month")
        elif ceiling.usd_month_change == 0:
            parts.append(f"at most {after_text(ceiling)} a month, as before")
        else:
            said = usd(ceiling.usd_month_change, signed=True)
            elsewhere = stack.cost.committed.usd_month_change
            of_it = f", of it {usd(elsewhere, signed=True)} on reservations bought elsewhere" if elsewhere else ""
            parts.append(f"at most {after_text(ceiling)} a month ({said}{of_it})")
    losing = sum(change.loses_data for change in stack.destructive)
    if losing:
        parts.append(f"DATA WOULD BE LOST with {plural(losing, 'resource')}")
    nothing = "the preview stopped early" if stack.verdict == "failed" else "nothing changes"
    return ", ".join([*parts, *(_counted(stack) or [nothing])])


def _counted(stack: StackReport) -> list[str]:
    """1 replaced (with 11 Auto Scaling tags): parts are not counted separately."""
    folded = fold_parts(stack.changes)
    whole: dict[str, list[ResourceChange]] = {}
    for change in stack.changes:
        if change.urn in folded:
            whole.setdefault(change.operation, []).append(change)
    found = []
    for operation, changes in whole.items():
        inside = parts_text((part for each in changes for part in folded[each.urn]), operation, PAST_TENSE)
        found.append(f"{len(changes)} {PAST_TENSE[operation]}{f' (with {inside})' if inside else ''}")
    return found


def loss_text(change: ResourceChange) -> str:
    """What is lost with a resource, in words; empty if its type is not known."""
    parts = []
    if change.holds:
        parts.append(f"loses {change.holds}" if not change.retained else f"keeps {change.holds} in the cloud")
    if change.ends and not change.retained:
        parts.append(change.ends)
    if change.guarded:
        parts.append(change.guarded)
    if change.protected:
        parts.append("protected: the engine refuses to delete it")
    if change.retained:
        parts.append("retained: it stays in the cloud and leaves the stack")
    return "; ".join(parts)


def pool_size(pool: GpuPoolState | None) -> str:
    """g5.8xlarge x 0 to 2."""
    if pool is None:
        return "none"
    return f"{' or '.join(pool.types) or 'type not known'} x {nodes_text(pool)}"


def nodes_text(pool: GpuPoolState) -> str:
    least, most = ("?" if number is None else str(number) for number in (pool.least, pool.most))
    return least if least == most else f"{least} to {most}"


def hourly_text(pool: GpuPoolState | None) -> str:
    """$0.00 to $4.92."""
    if pool is None:
        return "$0.00"
    least, most = usd(pool.usd_hour_least), usd(pool.usd_hour_most)
    return least if least == most else f"{least} to {most}"


def zones_text(pool: GpuPoolState | None) -> str:
    return ", ".join(pool.zones) if pool and pool.zones else "not known" if pool else ""


def before_and_after(before: str, now: str) -> str:
    """Both where they differ."""
    return now if before == now else f"{before} \N{RIGHTWARDS ARROW} {now}" if before else now


def gpus_text(pool: GpuPoolState | None) -> str:
    return "none" if pool is None else "not known" if pool.gpus is None else str(pool.gpus)


def gpu_row(pool: GpuPool) -> tuple[str, ...]:
    """The cells of `GPU_HEADINGS`, each as before -> after where it differs."""
    old, new = pool.before, pool.after

    def cell(said: Callable[[GpuPoolState], str], gone: str = "none") -> str:
        return before_and_after(said(old) if old else "", said(new) if new else gone)

    return (
        pool.name,
        PAST_TENSE.get(pool.operation, pool.operation),
        cell(pool_size),
        cell(gpus_text),
        cell(zones_text),
        cell(lambda side: side.market or "not known"),
        cell(hourly_text, "$0.00"),
        cell(lambda side: usd(side.usd_gpu_hour)),
        cell(lambda side: ", ".join(side.quotas) or "none"),
    )


GPU_HEADINGS = (
    "pool", "", "nodes", "GPUs at most", "zone ids", "market", "$ an hour, least to most", "$ a GPU-hour",
    "quota needed",
)  # fmt: skip


def footer_lines(report: Report) -> list[str]:
    """Versions and dates that the report is based on."""
    footer = report.footer
    editions = ", ".join(f"{cloud} of {edition or 'unknown date'}" for cloud, edition in footer.catalog.items())
    days = dict.fromkeys(day for day in (footer.prices_from, footer.prices_to) if day)
    dates = f", prices as of {' to '.join(days)}" if days else ""
    return [
        f"gpufleet {footer.gpufleet} on {footer.day}, commit {footer.commit or 'not known'}",
        f"catalog: {editions or 'not used'}{dates}; list prices before tax, a month of 730 hours",
    ]


MONEY_HEADINGS = ("USD a month", "before", "after", "change")
_FIGURES = {
    "floor": "always paid",
    "steady": "by the assumptions",
    "busy_month": "max nodes in busy hours",
    "ceiling": "most that may run",
    "committed": "in each of these: reservations that were bought elsewhere",
}


def money_rows(cost: CostSummary) -> list[tuple[str, str, str, str]]:
    """The cells of a table of figures. The row for reservations bought elsewhere is left out if it is zero."""
    rows = []
    for figure, said in _FIGURES.items():
        amount: CostAmount = getattr(cost, figure)
        if figure == "committed" and not amount.usd_month_after and not amount.usd_month_before:
            continue
        before = "" if amount.usd_month_before is None else usd(amount.usd_month_before)
        change = "" if amount.usd_month_change is None else usd(amount.usd_month_change, signed=True)
        rows.append((f"{figure.replace('_', ' ')} ({said})", before, after_text(amount), change))
    return rows
