"""The command line: `gpufleet ...`. One verb, one function; every error is one line and an exit code of 1."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec

import click

P = ParamSpec("P")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gpufleet")
def main() -> None:
    """Multi-node GPU training environments with Pulumi: rehearse them, repair them, know them."""


def _needs_rehearsal(command: Callable[P, int]) -> Callable[P, None]:
    """Run a command of the extra `rehearsal`, and turn what it raises for the user into one line."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            from gpufleet_rehearsal.errors import FOR_THE_USER
        except ImportError as error:
            raise click.ClickException(
                f"{error.name} is not installed: pip install 'gpufleet[aws,rehearsal]'"
            ) from error
        try:
            sys.exit(command(*args, **kwargs))
        except FOR_THE_USER as error:
            raise click.ClickException(str(error)) from error

    return run


@main.command()
@click.argument("environment", required=False)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the rehearsal lives. Default: PROGRAM/.rehearsal.")
@click.option("--latency-scale", default=0.01, type=click.FloatRange(min=0), show_default=True,
              help="Real seconds for one second of the cloud; 0: no waiting.")  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="SPEC",
              help="Make something fail, for instance create:#7 or die:@aws-dev-files-files; see docs/rehearsal.md.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of random faults.")
@click.option("--destroy", is_flag=True, help="End the environment; data stays unless the configuration says erase.")
@click.option("--keep", is_flag=True, help="With --destroy: keep the engine's empty stack, too.")
@click.option("--shell", is_flag=True, help="Open a shell in which plain `pulumi` talks to the rehearsal.")
@click.option("--refusals", is_flag=True, help="List everything that the simulated cloud refuses, with its source.")
@_needs_rehearsal
def rehearse(
    environment: str | None,
    command: tuple[str, ...],
    program: Path,
    home: Path | None,
    latency_scale: float,
    faults: tuple[str, ...],
    seed: int,
    destroy: bool,
    keep: bool,
    shell: bool,
    refusals: bool,
) -> int:
    """Bring ENVIRONMENT up (or end it) with the real Pulumi engine on a simulated cloud.

    \b
    gpufleet rehearse aws-dev
    gpufleet rehearse aws-dev --destroy
    gpufleet rehearse aws-dev --fault capacity:g5.8xlarge:use1-az1
    gpufleet rehearse aws-dev -- pulumi preview -s aws-dev
    """
    from rich.console import Console

    from gpufleet_rehearsal.home import Home
    from gpufleet_rehearsal.refusal_list import refusal_table
    from gpufleet_rehearsal.rehearse import Plan, prepare, rehearse, run_inside

    console = Console(highlight=False)
    if refusals:
        console.print(refusal_table())
        return 0
    if environment is None:
        raise click.UsageError("which environment? For instance: gpufleet rehearse aws-dev")
    place = Home.of(program, home)
    plan = Plan(environment, latency_scale, faults, seed, destroy, keep)
    if shell or command:
        prepare(place, plan)
        return run_inside(place, command)
    return rehearse(place, plan, console)
