"""The result of `gpufleet ps` as tables."""

from collections.abc import Iterator
from datetime import timedelta

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gpufleet.cost.line_item import FIGURES, Total
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.report import FleetReport
from gpufleet.rules.messages import plural


def print_fleet(report: FleetReport, console: Console) -> None:
    """Print the environments, the clusters' jobs, and notes."""
    expired = len(report.expired)
    stacks = plural(len(report.environments), "stack")
    title = f"{report.backend}: {stacks}, {expired} past their end; USD an hour"
    console.print(escape(title), style="italic", soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    for column in ("environment", "owner", "purpose", "age", "ends"):
        table.add_column(column, overflow="fold")
    for column in ("GPUs", *FIGURES, "updated"):
        table.add_column(column, justify="right", no_wrap=True)
    for each in report.environments:
        style = "bold red" if each.expired(report.now) else "dim" if not each.ending else ""
        table.add_row(*map(escape, _cells(each, report)), style=style)
    if len(report.environments) > 1:
        sums = [_usd(report.total(figure)) for figure in FIGURES]
        table.add_row("all", *[""] * 5, *sums, "", style="bold")
    console.print(table)
    if report.clusters:
        console.print("\nJobs with GPUs", style="italic")
        console.print(_jobs(report))
    for line in _notes(report):
        console.print(escape(line), soft_wrap=True)


def _cells(each: EnvironmentSummary, report: FleetReport) -> Iterator[str]:
    twins = sum(1 for other in report.environments if other.stack == each.stack)
    yield each.stack if twins == 1 else each.name
    yield each.owner or "-"
    yield each.purpose or "-"
    if each.fault:
        yield from ("", "not readable", *[""] * 5)
        return
    yield _ago(report.now - each.created) if each.created else "-"
    yield _end(each, report)
    if not each.resources:
        yield from ("0/0", *["0.00"] * 3)
    else:
        cluster = report.cluster_of(each)
        now = str(cluster.gpus) if cluster else _number(each.gpus_at_last_update, "~")
        yield f"{now}/{_number(each.gpus_most)}"
        yield from (_usd(each.costs[figure]) for figure in FIGURES)
    yield "now" if each.updating else _ago(report.now - each.updated) if each.updated else "-"


def _end(each: EnvironmentSummary, report: FleetReport) -> str:
    if not each.resources:
        return "empty"
    if not each.ending:
        return "data only"
    if each.end_doubt:
        return "not certain"
    if each.end is None:
        return "never"
    away = each.end.distance(report.now)
    return f"{each.end.text} ({'+' if each.end.past(report.now) else ''}{away})"


def _jobs(report: FleetReport) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("cluster", "job", "user", "project"):
        table.add_column(column, overflow="fold")
    for column in ("GPUs", "up", "use", "activity"):
        table.add_column(column, justify="left" if column == "activity" else "right", no_wrap=True)
    for cluster in report.clusters:
        if cluster.fault or not cluster.jobs:
            idle = f"no job on its {cluster.gpus} GPUs" if cluster.on == "kubernetes" else "no job"
            said = "cannot be read" if cluster.fault else idle
            table.add_row(escape(cluster.context), said)
        for job in cluster.jobs:
            up, use = _ago(report.now - job.since), "?" if job.percent is None else f"{job.percent:.0f} %"
            who = (cluster.context, f"{job.namespace}/{job.name}", job.user or "-", job.project or "-")
            cells = (*who, str(job.gpus), up, use, _activity(job))
            table.add_row(*map(escape, cells), style="bold red" if job.hung else "")
    return table


def _activity(job: GpuJob) -> str:
    span = f" for {_ago(job.idle)}" if job.idle else ""
    return f"{'hung: ' if job.hung else ''}{job.activity or '?'}{span}"


def _notes(report: FleetReport) -> Iterator[str]:
    yield from (f"{each.name}: {note}" for each in report.environments for note in each.notes)
    if any(each.costs and not each.costs["ceiling"].complete for each in report.environments):
        yield ">: at the least; not every price is known, `gpufleet cost` says which"
    if any(each.resources and report.cluster_of(each) is None for each in report.environments):
        yield "GPUs: now/at most; ~: when the stack was last updated; --contexts asks the clusters"
    for cluster in report.clusters:
        if cluster.silent:
            yield f"{cluster.context}: {cluster.silent} exporters of GPU metrics did not answer in time"
        elif cluster.on != "kubernetes":
            if cluster.jobs:
                yield f"{cluster.context}: no exporter is asked on {cluster.on}, so GPU use is unknown"
        elif not cluster.fault and cluster.jobs and not cluster.exporters:
            yield f"{cluster.context}: has no exporter of GPU metrics (such as DCGM's), so GPU use is unknown"
        if busy := [job.name for job in cluster.jobs if job.activity == "busy"]:
            yield (
                f"{cluster.context}: {', '.join(busy)}: neither power nor profiling fields are exported, so a job that "
                "waits at 100 % is not told from one that computes"
            )


def _usd(total: Total) -> str:
    return f"{'' if total.complete else '>'}{total.hour:,.2f}"


def _number(value: int | None, mark: str = "") -> str:
    return "?" if value is None else f"{mark}{value}"


def _ago(span: timedelta) -> str:
    minutes = max(0, int(span.total_seconds() // 60))
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 72 * 60 else f"{minutes // 1440} d"
