"""The rows of `gpufleet ps` as texts, for the terminal and for the page."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gpufleet.cost.line_item import FIGURES, Total
from gpufleet.fleet.bad_nodes import BadNode
from gpufleet.fleet.environment import EnvironmentSummary
from gpufleet.fleet.gpu_jobs import GpuJob
from gpufleet.fleet.report import FleetReport
from gpufleet.terminal import Column

if TYPE_CHECKING:
    from gpufleet.fleet.clusters import ClusterState

ENVIRONMENTS = [
    Column("environment"),
    Column("owner", 1),
    Column("purpose", 5),
    Column("age", 4),
    Column("ends"),
    Column("GPUs", right=True),
    Column("floor", 3, right=True),
    Column("steady", right=True),
    Column("ceiling", right=True),
    Column("updated", 2, right=True),
]
"""The figures are those of FIGURES, in US dollars an hour."""
JOBS = [
    Column("cluster", 2),
    Column("job"),
    Column("user", 1),
    Column("project", 3),
    Column("GPUs", right=True),
    Column("up", right=True),
    Column("use", right=True),
    Column("activity"),
]


def environment_cells(each: EnvironmentSummary, report: FleetReport) -> Iterator[str]:
    """A cell for each of ENVIRONMENTS."""
    twins = sum(1 for other in report.environments if other.stack == each.stack)
    yield each.stack if twins == 1 else each.name
    yield each.owner or "-"
    yield each.purpose or "-"
    if each.fault:
        yield from ("", "not readable", *[""] * 5)
        return
    yield time_span(report.now - each.created) if each.created else "-"
    yield _end(each, report)
    if not each.resources:
        yield from ("0/0", *["0.00"] * 3)
    else:
        cluster = report.cluster_of(each)
        now = str(cluster.gpus) if cluster else _number(each.gpus_at_last_update, "~")
        yield f"{now}/{_number(each.gpus_most)}"
        yield from (usd_hour(each.costs[figure]) for figure in FIGURES)
    yield "now" if each.updating else time_span(report.now - each.updated) if each.updated else "-"


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


def job_rows(report: FleetReport) -> Iterator[tuple[Sequence[str], bool]]:
    """A cell for each of JOBS, of each job or of a cluster without one; and whether the job hangs."""
    for cluster in report.clusters:
        if cluster.fault or not cluster.jobs:
            idle = f"no job on its {cluster.gpus} GPUs" if cluster.on == "kubernetes" else "no job"
            said = "cannot be read" if cluster.fault else idle
            yield (cluster.context, f"{cluster.context}: {said}", *[""] * 6), False
        for job in cluster.jobs:
            yield (cluster.context, *job_cells(job, report.now)), job.hung


def job_cells(job: GpuJob, now: datetime) -> Sequence[str]:
    """A cell for each of JOBS but the first."""
    up, use = time_span(now - job.since), "?" if job.percent is None else f"{job.percent:.0f} %"
    name = f"{job.namespace}/{job.name}" if job.namespace else job.name
    return (name, job.user or "-", job.project or "-", str(job.gpus), up, use, _activity(job))


def _activity(job: GpuJob) -> str:
    span = f" for {time_span(job.idle)}" if job.idle else ""
    return f"{'hung: ' if job.hung else ''}{job.activity or '?'}{span}"


def fleet_notes(report: FleetReport) -> Iterator[str]:
    """What a reader of the rows has to know besides, a sentence each."""
    yield from (f"{each.name}: {note}" for each in report.environments for note in each.notes)
    if any(each.costs and not each.costs["ceiling"].complete for each in report.environments):
        yield ">: at the least; not every price is known, `gpufleet cost` says which"
    if any(each.resources and report.cluster_of(each) is None for each in report.environments):
        yield "GPUs: now/at most; ~: when the stack was last updated; --contexts asks the clusters"
    for cluster in report.clusters:
        yield from activity_notes(cluster)


def bad_node_lines(clusters: Iterable["ClusterState"], now: datetime) -> list[str]:
    """A line for each bad node: its pool, since when, whether it takes pods, why, and what to do."""
    return [_bad_node(cluster.context, node, now) for cluster in clusters for node in cluster.bad_nodes]


def _bad_node(context: str, node: BadNode, now: datetime) -> str:
    since = f" for {time_span(now - node.since)}" if node.since else ""
    state = "cordoned" if node.cordoned else node.held or "not cordoned"
    pool = f" of pool {node.pool}" if node.pool else ""
    return f"{context}: {node.name}{pool}: bad{since}, {state}: {node.reason}; {node.fix}"


def activity_notes(cluster: "ClusterState") -> Iterator[str]:
    """Why the activity of a cluster's jobs is not known, a sentence each."""
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


def usd_hour(total: Total) -> str:
    """USD an hour; with lines of unknown price, a lower bound."""
    return f"{'' if total.complete else '>'}{total.hour:,.2f}"


def _number(value: int | None, mark: str = "") -> str:
    return "?" if value is None else f"{mark}{value}"


def time_span(span: timedelta) -> str:
    """A span in its largest unit that is not too coarse: 90 min, 50 h, 4 d."""
    minutes = max(0, int(span.total_seconds() // 60))
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h" if minutes < 72 * 60 else f"{minutes // 1440} d"
