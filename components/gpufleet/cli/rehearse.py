"""`gpufleet rehearse ENV`."""

import sys
from pathlib import Path

import click

from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json


@click.command()
@environment_argument(required=False)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option(
    "--home", type=click.Path(path_type=Path), help="Directory of the rehearsal. Default: PROGRAM/.rehearsal."
)
@click.option("--latency-scale", default=0.001, type=click.FloatRange(min=0), show_default=True,
              help="Real seconds per simulated second; 0: no waiting.")  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="SPEC",
              help="Inject a fault: create:#7, die:@aws-dev-files-files ...; see docs/rehearsal.md.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of random faults.")
@click.option(
    "--destroy", is_flag=True, help="Destroy the environment; data stays unless the configuration says erase."
)
@click.option("--keep", is_flag=True, help="With --destroy: keep the engine's empty stack.")
@click.option("--put", type=click.Path(path_type=Path), help="First write this file to the shared file system.")
@click.option("--control-plane/--no-control-plane", default=True, show_default=True,
              help="Back simulated clusters with a real Kubernetes control plane, if it was built.")  # fmt: skip
@click.option("--shell", is_flag=True, help="Open a shell in which plain `pulumi` uses the rehearsal.")
@click.option("--refusals", is_flag=True, help="List all rejections of the simulated cloud, with their sources.")
@json_option
@exit_with_errors
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
    put: Path | None,
    control_plane: bool,
    shell: bool,
    refusals: bool,
    as_json: bool,
) -> int:
    """Deploy ENVIRONMENT to a simulated cloud, or destroy it.

    The rehearsal runs the real Pulumi engine and your real program.

    \b
    gpufleet rehearse aws-dev
    gpufleet rehearse aws-dev --destroy
    gpufleet rehearse aws-dev --fault capacity:g5.8xlarge:use1-az1
    gpufleet rehearse aws-dev -- pulumi preview -s aws-dev
    """
    from rich.console import Console

    from gpufleet_rehearsal.refusal_list import refusal_text
    from gpufleet_rehearsal.rehearsal_json import refusals_to_dict, rehearsal_to_dict
    from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare, rehearse, run_inside
    from gpufleet_rehearsal.workspace import Workspace

    console = Console(highlight=False, stderr=as_json)
    if refusals:
        if as_json:
            print_json(refusals_to_dict())
        else:
            click.echo(refusal_text())
        return 0
    if environment is None:
        raise click.UsageError("which environment? For instance: gpufleet rehearse aws-dev")
    if as_json and (shell or command):
        raise click.UsageError("--json is for a rehearsal without a command or a shell, which print what they like")
    place = Workspace.of(program, home)
    plan = RehearsalPlan(environment, latency_scale, faults, seed, destroy, keep, put, control_plane)
    if shell or command:
        prepare(place, plan)
        return run_inside(place, environment, command)
    code = rehearse(place, plan, console, sys.stderr if as_json else None)
    if as_json:
        print_json(rehearsal_to_dict(place, plan, code))
    return code
