"""An estimate as a table in USD a month, with notes below."""

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gpufleet.cost.estimate import Estimate
from gpufleet.cost.line_item import FIGURES, LineItem, PriceTag, Total, total_of
from gpufleet.cost.pool_cost import PoolCost
from gpufleet.cost.prices import catalog_of
from gpufleet.rules.messages import plural
from gpufleet.rules.resource_finding import ResourceFinding
from gpufleet.rules.rule import Severity, Status


def print_estimate(
    cost: Estimate, seen_on: str, findings: Sequence[ResourceFinding], console: Console, *, sources: bool = False
) -> None:
    """Print an estimate.

    seen_on: where its plan is from. findings: of the rules on cost, passes included. sources: whether to list where
    each price is from; default: only how many are old.
    """
    editions = " and ".join(f"{cloud} of {catalog_of(cloud).edition or 'unknown date'}" for cloud in cost.clouds)
    console.print(f"[bold]{escape(cost.stack)}[/], {escape(seen_on)}")
    by = f"the catalog ({editions or 'not used'})"
    console.print(f"List prices before tax by {by}, in USD a month of 730 hours.\n")
    console.print(_table(cost))
    if cost.pools:
        console.print(
            f"one busy month, max nodes in {cost.usage.busy_hours:g} h of it: {_bold(cost.busy_month, False)}"
        )
    for heading, lines in _notes(cost, findings, sources):
        if lines:
            console.print(f"\n[bold]{heading}[/]")
            for line in lines:
                console.print(f"  {escape(line)}", soft_wrap=True, emoji=False)


def _table(cost: Estimate) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", overflow="fold")
    table.add_column("price", justify="right", overflow="fold")
    for figure in FIGURES:
        table.add_column(figure, justify="right", no_wrap=True)
    for pool in cost.pools:
        _section(table, _heading(pool), pool.lines)
    _section(table, "other resources", cost.other_lines)
    table.add_row("[bold]all, a month[/]", "", *(_bold(cost.totals[figure], hourly=False) for figure in FIGURES))
    table.add_row("[bold]all, an hour[/]", "", *(_bold(cost.totals[figure], hourly=True) for figure in FIGURES))
    return table


def _section(table: Table, heading: str, lines: Sequence[LineItem]) -> None:
    if not lines:
        return
    totals = [total_of(lines, figure) for figure in FIGURES]
    table.add_row(f"[bold]{escape(heading)}[/]", "", *(_amount(each) for each in totals))
    table.add_row("  an hour", "", *(_amount(each, hourly=True) for each in totals))
    for line in lines:
        remarks = ", ".join(filter(None, ("committed" if line.committed else "", line.note)))
        what = f"  {line.what} ({remarks})" if remarks else f"  {line.what}"
        price = "unknown" if line.price.usd is None else f"{line.price.usd:g}"
        months = ("unknown" if (month := line.month(figure)) is None else f"{month:,.2f}" for figure in FIGURES)
        table.add_row(escape(what), f"{price} /{line.price.unit}", *months, style="dim")
    table.add_row()


def _heading(pool: PoolCost) -> str:
    least, most = ("?" if number is None else str(number) for number in (pool.least, pool.most))
    gpus = "" if pool.gpus is None else f", {pool.gpus} GPU{'' if pool.gpus == 1 else 's'} each"
    return f"{pool.name}: {least} to {most} nodes, {pool.capacity or 'bought in a way that is not known'}{gpus}"


def _bold(each: Total, hourly: bool) -> str:
    return f"[bold]{_amount(each, hourly)}[/]"


def _amount(each: Total, hourly: bool = False) -> str:
    amount = each.hour if hourly else each.month
    return f"{'' if each.complete else 'at least '}{amount:,.2f}"


def _notes(cost: Estimate, findings: Sequence[ResourceFinding], sources: bool) -> Iterator[tuple[str, Sequence[str]]]:
    yield "What the figures are", FIGURES_SAID
    yield "Spot, in USD for one node and hour, never counted", [_spot(p) for p in cost.pools if p.capacity == "spot"]
    yield "Assumptions (--usage FILE, or gpufleet:usage)", cost.assumptions
    yield "Not in the figures: no price or no amount known", cost.unknowns
    types = [f"not priced: {kind} ({number} of it)" for kind, number in sorted(cost.not_priced.items())]
    yield "Not in the figures: types that gpufleet does not know", types
    yield "Where the prices are from", [_source(tag, cost) for tag in cost.tags] if sources else _ages(cost)
    told = [each.line for each in findings if each.finding.status is not Status.PASS and _weighs(each)]
    yield "Findings of the policy pack for cost", told


def _ages(cost: Estimate) -> Sequence[str]:
    """How many prices are old; nothing without any price."""
    old = sum(tag.is_old(cost.today) for tag in cost.tags)
    aged = (
        f"{old} of {plural(len(cost.tags), 'price')} {'is' if old == 1 else 'are'} more than 180 days old; "
        if old
        else ""
    )
    return [f"{aged}--sources lists each with its source and date"] if cost.tags else []


def _source(tag: PriceTag, cost: Estimate) -> str:
    old = ", more than 180 days old" if tag.is_old(cost.today) else ""
    return f"{tag.of}: {tag.source} ({tag.as_of}{old})"


FIGURES_SAID = (
    "floor: what is always paid, with min nodes and without traffic",
    "steady: desired nodes in busy hours, min nodes in all others, and the traffic of the assumptions",
    "ceiling: max nodes of the dearest type all month, Spot at the on-demand price, and the same traffic",
    "one busy month: max nodes of every pool in busy hours, min nodes in all others, and the same traffic",
    "committed: paid whether used or not; nodes on a reservation are in all three figures",
)


def _spot(pool: PoolCost) -> str:
    if pool.spot is None:
        return f"{pool.name}: the catalog has no Spot price of {' or '.join(pool.types) or 'its types'}"
    return f"{pool.name}: {pool.spot.low:g} to {pool.spot.high:g} as of {pool.spot.as_of}"


def _weighs(judged: ResourceFinding) -> bool:
    """Advice (INFO) that is not verified says nothing."""
    return judged.finding.severity is not Severity.INFO or judged.finding.status is Status.FAIL
