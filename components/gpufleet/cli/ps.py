"""`gpufleet ps`: list environments."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, wide_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpufleet.fleet.clusters import ClusterState
    from gpufleet.fleet.report import FleetReport
    from gpufleet.fleet.stack_state import StackState


@click.command()
@click.option("--backend", metavar="URL", help="Pulumi backend. Default: the one that `pulumi` uses here.")
@click.option(
    "--contexts", metavar="NAMES", help="Also query the clusters of these contexts: comma-separated names, or all."
)
@click.option("--jobs", "asked", metavar="NAMES", help="Also query AWS Batch, Azure Batch and Slurm: comma-separated "
              "environments, ENV=FILE with a file of outputs, or all.")  # fmt: skip
@click.option("--notify", "webhook", metavar="URL", envvar="GPUFLEET_NOTIFY_URL", help="Post a summary to a webhook.")
@click.option("--html", "page", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Also write FILE, a page that needs no server, for readers without a terminal.")  # fmt: skip
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here.")
@wide_option
@json_option
@exit_with_errors
def ps(
    backend: str | None,
    contexts: str | None,
    asked: str | None,
    webhook: str | None,
    page: Path | None,
    program: Path,
    wide: bool,
    as_json: bool,
) -> int:
    """List environments with owner, expiry, GPUs and cost.

    Expired ones come first. Prices come from the catalog, for the resources in each stack's state. Exits with 1 if
    something could not be read.

    \b
    gpufleet ps --contexts all --jobs all
    gpufleet ps --jobs aws-batch-dev,lab=lab.yaml
    gpufleet ps --backend file:///shared/states --json
    gpufleet ps --contexts all --html fleet.html
    """
    from gpufleet.fleet.backend import stacks_of
    from gpufleet.fleet.environment import environment_of, sort_environments
    from gpufleet.fleet.formats.json import fleet_to_dict, webhook_summary
    from gpufleet.fleet.formats.table import print_fleet
    from gpufleet.fleet.report import FleetReport
    from gpufleet.terminal import wide_console

    now = datetime.now(UTC)
    url, states = stacks_of(backend, program)
    found = sort_environments([environment_of(each, now.date()) for each in states], now)
    seen = [*(_clusters(contexts, now) if contexts else []), *(_queues(asked, states, program, now) if asked else [])]
    report = FleetReport(url, found, seen, now)
    if as_json:
        click.echo(json.dumps(fleet_to_dict(report), indent=2))
    else:
        print_fleet(report, wide_console(), wide=wide)
    if page:
        _write_page(page, report)
    for fault in report.faults:
        click.echo(f"Error: {fault}", err=True)
    if webhook:
        from gpufleet.fleet.webhook import notify

        notify(webhook, webhook_summary(report))
    return 1 if report.faults else 0


def _write_page(file: Path, report: "FleetReport") -> None:
    """Errors: UserError."""
    from gpufleet.atomic_file import write_atomically
    from gpufleet.errors import UserError
    from gpufleet.fleet.formats.html import fleet_page

    try:
        write_atomically(file, fleet_page(report))
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}; choose another with --html") from error


def _clusters(contexts: str, now: datetime) -> list["ClusterState"]:
    """What the clusters say, and how long it has been so at earlier looks."""
    from dataclasses import replace

    from gpufleet.fleet.clusters import query_clusters
    from gpufleet.fleet.idle_history import IdleHistory, idle_history_file
    from gpufleet.fleet.kubeconfig import select_contexts

    history = IdleHistory(idle_history_file())
    found = query_clusters(select_contexts(contexts))
    judged = [replace(each, jobs=tuple(history.update(each.host, each.jobs, now))) for each in found]
    history.save(now)
    return judged


def _queues(asked: str, states: "Sequence[StackState]", program: Path, now: datetime) -> list["ClusterState"]:
    """What runs on AWS Batch, Azure Batch and Slurm. asked: as of --jobs."""
    from gpufleet.cli.stack_options import settings_of
    from gpufleet.errors import UserError
    from gpufleet.fleet.clusters import ClusterState
    from gpufleet.usage.backends import allocated_by_backend
    from gpufleet.usage.running_jobs import back_end_of, running_jobs

    ours = {each.name: back_end_of(each) for each in states}
    every = [name for name, on in ours.items() if on]
    wanted = every if asked == "all" else [each for each in asked.split(",") if each]
    found: list[ClusterState] = []
    for each in wanted:
        name, _, file = each.partition("=")
        on = ours.get(name, "")
        try:
            settings = settings_of(name, program, Path(file) if file else None, on or None)
            on = settings.on
            if on == "kubernetes":
                raise UserError(f"{name}: its jobs run on Kubernetes; use --contexts")
            jobs = running_jobs(allocated_by_backend(settings, now, now))
            found.append(ClusterState(name, "", jobs=tuple(jobs), on=on))
        except UserError as error:
            said = str(error).removeprefix(f"{name}: ")
            found.append(ClusterState(name, "", fault=said, on=on or "batch"))
    return found
