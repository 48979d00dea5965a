"""`gpufleet rehearse ENV`."""

from pathlib import Path

import click

from gpufleet.cli.error_handling import for_the_user


@click.command()
@click.argument("environment", required=False)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--home", type=click.Path(path_type=Path), help="Where the rehearsal lives. Default: PROGRAM/.rehearsal.")
@click.option("--latency-scale", default=0.01, type=click.FloatRange(min=0), show_default=True,
              help="Real seconds for one second of the cloud; 0: no waiting.")  # fmt: skip
@click.option("--fault", "faults", multiple=True, metavar="SPEC",
              help="Make something fail: create:#7, die:@aws-dev-files-files ...; see docs/rehearsal.md.")  # fmt: skip
@click.option("--seed", default=1, show_default=True, help="Seed of random faults.")
@click.option("--destroy", is_flag=True, help="End the environment; data stays unless the configuration says erase.")
@click.option("--keep", is_flag=True, help="With --destroy: keep the engine's empty stack, too.")
@click.option("--put", type=click.Path(path_type=Path), help="First write a file into the shared file system.")
@click.option("--control-plane/--no-control-plane", default=True, show_default=True,
              help="Let simulated clusters lead to a real Kubernetes control plane, where it was built.")  # fmt: skip
@click.option("--shell", is_flag=True, help="Open a shell in which plain `pulumi` talks to the rehearsal.")
@click.option("--refusals", is_flag=True, help="List everything that the simulated cloud refuses, with its source.")
@for_the_user
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
) -> int:
    """Bring ENVIRONMENT up (or end it) with the real Pulumi engine on a simulated cloud.

    \b
    gpufleet rehearse aws-dev
    gpufleet rehearse aws-dev --destroy
    gpufleet rehearse aws-dev --fault capacity:g5.8xlarge:use1-az1
    gpufleet rehearse aws-dev -- pulumi preview -s aws-dev
    """
    from rich.console import Console

    from gpufleet_rehearsal.refusal_list import refusal_text
    from gpufleet_rehearsal.rehearse import RehearsalPlan, prepare, rehearse, run_inside
    from gpufleet_rehearsal.workspace import Home

    console = Console(highlight=False)
    if refusals:
        click.echo(refusal_text())
        return 0
    if environment is None:
        raise click.UsageError("which environment? For instance: gpufleet rehearse aws-dev")
    place = Home.of(program, home)
    plan = RehearsalPlan(environment, latency_scale, faults, seed, destroy, keep, put, control_plane)
    if shell or command:
        prepare(place, plan)
        return run_inside(place, environment, command)
    return rehearse(place, plan, console)
