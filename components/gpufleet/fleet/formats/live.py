"""A live state as tables, and as JSON data."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.console import Console

from gpufleet.fleet.formats.json import cluster_to_dict
from gpufleet.fleet.live_state import LivePool, LiveState
from gpufleet.fleet.rows import JOBS, activity_notes, bad_node_lines, job_cells
from gpufleet.terminal import Column, print_notes, print_table

POOLS = [
    Column("pool"),
    Column("nodes", right=True),
    Column("GPUs", right=True),
    Column("USD/h", right=True),
]


def print_live(state: LiveState, out: Console, *, wide: bool = False) -> None:
    """Print the pools, the jobs, and notes. out: a console of `gpufleet.terminal.wide_console`."""
    out.print(f"{state.environment}: {state.now:%Y-%m-%d %H:%M:%S} UTC", style="italic")
    rows = [_cells(each) for each in state.pools]
    usd, complete = state.usd_hour
    if len(rows) > 1:
        used = sum(each.used for each in state.pools)
        rows.append(["all", "", str(used), f"{'' if complete else '>'}{usd:,.2f}"])
    print_table(POOLS, rows, out, wide=wide, styles=[*[""] * len(state.pools), "bold"])
    out.print("\nJobs with GPUs", style="italic")
    jobs = state.cluster.jobs
    styles = ["bold red" if job.hung else "" for job in jobs]
    print_table(JOBS[1:], [job_cells(job, state.now) for job in jobs], out, wide=wide, styles=styles)
    if bad := bad_node_lines([state.cluster], state.now):
        out.print("\nBad nodes", style="italic")
        print_notes(bad, out)
    print_notes(_notes(state), out)


def live_to_dict(state: LiveState) -> dict[str, Any]:
    """The whole state; docs/ps.md describes the fields."""
    usd, complete = state.usd_hour
    return {
        "environment": state.environment,
        "now": state.now.isoformat(timespec="seconds"),
        "usd_per_hour": {"usd": round(usd, 6), "complete": complete},
        "pools": [asdict(each) for each in state.pools],
        **cluster_to_dict(state.cluster),
    }


def _cells(pool: LivePool) -> list[str]:
    nodes = "?" if pool.nodes is None else f"{pool.ready}/{pool.nodes}"
    gpus = str(pool.used) if pool.gpus is None else f"{pool.used}/{pool.gpus}"
    return [pool.name, nodes, gpus, "?" if pool.usd_hour is None else f"{pool.usd_hour:,.2f}"]


def _notes(state: LiveState) -> Iterator[str]:
    on_nodes = state.cluster.on == "kubernetes"
    if not state.cluster.jobs:
        yield "no job holds GPUs"
    yield "nodes: ready/all; GPUs: held by jobs/all" if on_nodes else "GPUs: held by jobs"
    if not state.usd_hour[1]:
        yield "?: no list price for a node of the pool: an own server, a reservation, or a type outside the catalog"
    yield from activity_notes(state.cluster)
