"""`gpufleet pool resize|autoscale`: the number of nodes of an Azure Batch pool."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import of_environment, settings_of

if TYPE_CHECKING:
    from gpufleet.jobs.azure_batch.pool_size import PoolSize
    from gpufleet.jobs.pool_info import PoolInfo
    from gpufleet.jobs.settings import JobSettings

_UNTIL = "a `pulumi up` that changes the pool makes it what the configuration says"


@click.group()
def pool() -> None:
    """Nodes of an Azure Batch pool.

    Pools on Kubernetes and AWS Batch scale automatically."""


@pool.command()
@of_environment
@click.argument("name", metavar="POOL")
@click.argument("nodes", type=int)
@click.option(
    "--wait",
    "minutes",
    type=float,
    metavar="MINUTES",
    help="How long to wait for the nodes. Default 15; 0: do not wait.",
)
@json_option
@exit_with_errors
def resize(
    environment: str,
    name: str,
    nodes: int,
    minutes: float | None,
    program: Path,
    outputs: Path | None,
    as_json: bool,
) -> int:
    """Set POOL to a fixed number of NODES, and wait for them. This disables its autoscale formula, if any.

    \b
    gpufleet pool resize azure-dev spot 2
    gpufleet pool resize azure-dev spot 0
    """
    from gpufleet.jobs.azure_batch.pool_size import WAIT_MINUTES

    settings = _settings(environment, program, outputs)
    found = settings.pool(name)
    for line in _size(settings, found).resize(nodes, WAIT_MINUTES if minutes is None else minutes):
        click.echo(line, err=as_json)
    price = _note(found, settings, nodes, "cost")
    if as_json:
        size = {"autoscale": False, "min": nodes, "max": nodes}
        print_json({"environment": environment, "pool": name, **size, "usd_per_hour_at_max": price})
    return 0


@pool.command()
@of_environment
@click.argument("name", metavar="POOL")
@click.option("--min", "least", type=int, metavar="N", help="Minimum number of nodes. Default 0.", default=0)
@click.option("--max", "most", type=int, metavar="N", required=True, help="Maximum number of nodes.")
@json_option
@exit_with_errors
def autoscale(
    environment: str, name: str, least: int, most: int, program: Path, outputs: Path | None, as_json: bool
) -> int:
    """Scale POOL with its tasks, from --min to --max nodes.

    \b
    gpufleet pool autoscale azure-dev spot --min 0 --max 10
    """
    from gpufleet.azure.autoscale_formula import autoscale_formula
    from gpufleet.rules.azure.batch_scaling import DEFAULT_IDLE

    settings = _settings(environment, program, outputs)
    found = settings.pool(name)
    size = _size(settings, found)
    own = size.pool
    idle = own.idle_minutes or DEFAULT_IDLE
    formula = autoscale_formula(min=least, max=most, spot=own.spot, idle_minutes=idle, task_nodes=own.task_nodes)
    for line in size.autoscale(formula, least, most):
        click.echo(line, err=as_json)
    price = _note(found, settings, most, "cost up to")
    if as_json:
        limits = {"autoscale": True, "min": least, "max": most}
        print_json({"environment": environment, "pool": name, **limits, "usd_per_hour_at_max": price})
    return 0


def _settings(environment: str, program: Path, outputs: Path | None) -> "JobSettings":
    settings = settings_of(environment, program, outputs, "azure-batch")
    assert settings.azure_batch is not None
    return settings


def _size(settings: "JobSettings", found: "PoolInfo") -> "PoolSize":
    from gpufleet.jobs.azure_batch.client import AzureBatchClient
    from gpufleet.jobs.azure_batch.pool_size import PoolSize

    azure = settings.azure_batch
    assert azure is not None
    return PoolSize(AzureBatchClient(azure), settings.environment, found.name, azure.pools[found.name], found.max)


def _note(found: "PoolInfo", settings: "JobSettings", nodes: int, cost: str) -> float | None:
    """Say what so many nodes cost, and until when the number holds; the list price in USD an hour, None if unknown."""
    from gpufleet.catalog import azure as catalog

    batch = settings.azure_batch
    assert batch is not None
    prices = [catalog().price(each, batch.region) for each in found.types]
    known = [price for price in prices if price is not None]
    usd = nodes * max(known) if known else None
    if nodes and usd is not None:
        spot = " (list price; Spot is cheaper)" if batch.pools[found.name].spot else " (list price)"
        what = f"{nodes} of {', '.join(found.types)} {cost} {usd:,.2f} USD an hour{spot}"
        click.echo(f"{found.name}: {what}", err=True)
    click.echo(f"{found.name}: {_UNTIL}", err=True)
    return usd
