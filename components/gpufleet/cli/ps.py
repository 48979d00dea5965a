"""`gpufleet ps`: all environments of a team."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import for_the_user

if TYPE_CHECKING:
    from gpufleet.fleet.clusters import ClusterState


@click.command()
@click.option("--backend", metavar="URL", help="Backend of Pulumi. Default: the one that `pulumi` uses here.")
@click.option("--contexts", metavar="NAMES", help="Ask the clusters of these contexts too: names with commas, or all.")
@click.option("--notify", "webhook", metavar="URL", envvar="GPUFLEET_NOTIFY_URL", help="Post a summary to a webhook.")
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
@for_the_user
def ps(backend: str | None, contexts: str | None, webhook: str | None, program: Path, as_json: bool) -> int:
    """Whose environments there are, until when, with how many GPUs and for how much; past their end first.

    Prices are by the catalog, for what each stack's state holds. Ends with 1 when something could not be read.

    \b
    gpufleet ps --contexts all
    gpufleet ps --backend file:///shared/states --json
    """
    from rich.console import Console

    from gpufleet.fleet.backend import stacks_of
    from gpufleet.fleet.environment import environment_of, in_order
    from gpufleet.fleet.formats.table import print_report
    from gpufleet.fleet.report import FleetReport, report_as_json, summary

    now = datetime.now(UTC)
    url, states = stacks_of(backend, program)
    found = in_order([environment_of(each, now.date()) for each in states], now)
    report = FleetReport(url, found, _clusters(contexts, now) if contexts else [], now)
    if as_json:
        click.echo(json.dumps(report_as_json(report), indent=2))
    else:
        print_report(report, Console(highlight=False))
    for fault in report.faults:
        click.echo(f"Error: {fault}", err=True)
    if webhook:
        from gpufleet.fleet.webhook import notify

        notify(webhook, summary(report))
    return 1 if report.faults else 0


def _clusters(contexts: str, now: datetime) -> list["ClusterState"]:
    """What the clusters say, and how long it has been so at earlier looks."""
    from dataclasses import replace

    from gpufleet.fleet.clusters import looked_at
    from gpufleet.fleet.idle_history import IdleHistory, idle_history_file
    from gpufleet.fleet.kubeconfig import contexts_of

    looks = IdleHistory(idle_history_file())
    found = looked_at(contexts_of(contexts))
    judged = [replace(each, jobs=tuple(looks.judge(each.host, each.jobs, now))) for each in found]
    looks.keep(now)
    return judged
