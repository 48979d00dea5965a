"""The result of `gpufleet ps` as tables."""

from rich.console import Console

from gpufleet.cost.line_item import FIGURES
from gpufleet.fleet.report import FleetReport
from gpufleet.fleet.rows import ENVIRONMENTS, JOBS, bad_node_lines, environment_cells, fleet_notes, job_rows, usd_hour
from gpufleet.rules.messages import plural
from gpufleet.terminal import print_notes, print_table


def print_fleet(report: FleetReport, out: Console, *, wide: bool = False) -> None:
    """Print the environments, the clusters' jobs, and notes. out: a console of `gpufleet.terminal.wide_console`."""
    expired = len(report.expired)
    stacks = plural(len(report.environments), "stack")
    out.print(f"{report.backend}: {stacks}, {expired} past their end; USD an hour", style="italic")
    rows = [list(environment_cells(each, report)) for each in report.environments]
    styles = ["bold red" if each.expired(report.now) else "" if each.ending else "dim" for each in report.environments]
    if len(rows) > 1:
        rows.append(["all", *[""] * 5, *(usd_hour(report.total(figure)) for figure in FIGURES), ""])
        styles.append("bold")
    print_table(ENVIRONMENTS, rows, out, wide=wide, styles=styles)
    if report.clusters:
        out.print("\nJobs with GPUs", style="italic")
        jobs = list(job_rows(report))
        print_table(
            JOBS, [cells for cells, _ in jobs], out, wide=wide, styles=["bold red" if hung else "" for _, hung in jobs]
        )
    if bad := bad_node_lines(report.clusters, report.now):
        out.print("\nBad nodes", style="italic")
        print_notes(bad, out)
    print_notes(fleet_notes(report), out)
