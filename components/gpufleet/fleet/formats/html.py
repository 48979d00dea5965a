"""The result of `gpufleet ps` as one self-contained HTML page, for readers without a terminal.

It begins with what costs money and is past its end. All texts are as of the moment that the page names.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from gpufleet.cost.line_item import FIGURES, Total
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.report import FleetReport, total_cost
from gpufleet.fleet.rows import (
    ENVIRONMENTS,
    JOBS,
    bad_node_lines,
    environment_cells,
    fleet_notes,
    job_rows,
    time_span,
    usd_hour,
)
from gpufleet.html_page import html_page, html_table
from gpufleet.rules.messages import plural
from gpufleet.terminal import Column

_OWNERS = ("owner", "environments", "past their end", "USD a month, at the least", "by the assumptions", "at the most")
"""The last three are FIGURES."""


def fleet_page(report: FleetReport) -> str:
    """The whole page."""
    return html_page("gpufleet: environments and their cost", _parts(report))


def _parts(report: FleetReport) -> Iterator[str]:
    there = [each for each in report.environments if each.resources]
    steady, hung = report.total("steady"), list(report.hung)
    words = [f"{plural(len(there), 'environment')}, {usd_hour(steady)} USD an hour"]
    words += [f"{len(report.expired)} past their end"] if report.expired else []
    words += [f"{plural(len(hung), 'job')} hung"] if hung else []
    yield f'<h1 class="{"warned" if report.expired or hung else "passed"}">{escape("; ".join(words))}</h1>'
    moment = report.now.strftime("%Y-%m-%d %H:%M UTC")
    yield f'<p class="dim">{escape(report.backend)}, {moment}. Prices are list prices from gpufleet\'s catalog.</p>'
    yield from _items("Could not be read", "failed", report.faults)
    yield from _items("Past their end", "failed", (_past_end(each, report) for each in report.expired))
    yield from _items("Hung jobs", "failed", (
        f"{job.namespace}/{job.name} on {cluster.context}: {job.gpus} GPUs {job.activity} for {time_span(job.idle)}"
        for cluster, job in hung
    ))  # fmt: skip
    yield from _items("Bad nodes", "failed", bad_node_lines(report.clusters, report.now))
    yield "<h2>Cost by owner</h2>"
    yield html_table(_OWNERS, _owner_rows(there, report), numbers=range(1, len(_OWNERS)))
    yield "<h2>Environments</h2>\n<p>Figures in USD an hour.</p>"
    rows = [list(environment_cells(each, report)) for each in report.environments]
    expired = ["failed" if each.expired(report.now) else "" for each in report.environments]
    yield _columns(ENVIRONMENTS, rows, expired)
    if report.clusters:
        jobs = list(job_rows(report))
        yield "<h2>Jobs with GPUs</h2>"
        yield _columns(JOBS, [cells for cells, _ in jobs], ["failed" if hangs else "" for _, hangs in jobs])
    yield from _items("Notes", "", fleet_notes(report))


def _past_end(each: EnvironmentSummary, report: FleetReport) -> str:
    assert each.end is not None
    cost = f"{usd_hour(each.costs['floor'])} USD an hour at the least"
    return f"{each.name}, of {each.owner or 'nobody'}: by {each.end.distance(report.now)}, {cost}"


def _owner_rows(there: Sequence[EnvironmentSummary], report: FleetReport) -> list[list[str]]:
    """The owner with the highest steady cost first, and a row of all of them."""
    owners: dict[str, list[EnvironmentSummary]] = {}
    for each in there:
        owners.setdefault(each.owner or "-", []).append(each)
    ranked = sorted(owners.items(), key=lambda item: (-total_cost(item[1], "steady").month, item[0]))
    groups = [*ranked, *([("all", list(there))] if len(ranked) > 1 else [])]
    return [
        [
            owner,
            str(len(group)),
            str(sum(each.expired(report.now) for each in group)),
            *(_usd_month(total_cost(group, figure)) for figure in FIGURES),
        ]
        for owner, group in groups
    ]


def _usd_month(total: Total) -> str:
    return f"{'' if total.complete else '>'}{total.month:,.0f}"


def _columns(columns: Sequence[Column], rows: Iterable[Sequence[str]], classes: Sequence[str]) -> str:
    numbers = [at for at, column in enumerate(columns) if column.right]
    return html_table([column.heading for column in columns], rows, numbers, classes)


def _items(heading: str, kind: str, lines: Iterable[str]) -> Iterator[str]:
    if listed := list(lines):
        items = "\n".join(f"<li>{escape(line)}</li>" for line in listed)
        yield f'<h2 class="{kind}">{heading}</h2>\n<ul>{items}</ul>'
