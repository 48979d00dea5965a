"""The command line: `gpufleet ...`. One verb, one function; every error is one line and an exit code of 1."""

import functools
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

import click

from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.adopt import Inventory
    from gpufleet.engine import Engine

P = ParamSpec("P")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="gpufleet")
def main() -> None:
    """Multi-node GPU training environments with Pulumi: rehearse them, repair them, know them."""


def _for_the_user(command: Callable[P, int]) -> Callable[P, None]:
    """Turn what a command raises for the user into one line, and a missing extra into the words to install it."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            sys.exit(command(*args, **kwargs))
        except UserError as error:
            raise click.ClickException(str(error)) from error
        except ModuleNotFoundError as error:
            install = "pip install 'gpufleet[aws,jobs,rehearsal]'"
            raise click.ClickException(f"{error.name} is not installed: {install}") from error

    return run


@main.command()
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
@click.option("--shell", is_flag=True, help="Open a shell in which plain `pulumi` talks to the rehearsal.")
@click.option("--refusals", is_flag=True, help="List everything that the simulated cloud refuses, with its source.")
@_for_the_user
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
    from gpufleet_rehearsal.refusal_list import refusal_text
    from gpufleet_rehearsal.rehearse import Plan, prepare, rehearse, run_inside

    console = Console(highlight=False)
    if refusals:
        click.echo(refusal_text())
        return 0
    if environment is None:
        raise click.UsageError("which environment? For instance: gpufleet rehearse aws-dev")
    place = Home.of(program, home)
    plan = Plan(environment, latency_scale, faults, seed, destroy, keep, put)
    if shell or command:
        prepare(place, plan)
        return run_inside(place, environment, command)
    return rehearse(place, plan, console)


@main.command()
@click.argument("environment")
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--unlock", is_flag=True, help="Remove the lock of an engine that died. Never while one is at work.")
@click.option("--delete", is_flag=True, help="Delete what the state does not hold, instead of taking it over.")
@click.option("--list", "only_list", is_flag=True, help="Only say what there is.")
@_for_the_user
def adopt(environment: str, program: Path, unlock: bool, delete: bool, only_list: bool) -> int:
    """Find what the cloud holds of ENVIRONMENT and the state does not, by its tags, and take it over.

    After a crash of the engine in the middle of an `up`. In a rehearsal:
    gpufleet rehearse aws-dev -- gpufleet adopt aws-dev --unlock
    """
    from gpufleet import adopt as adoption
    from gpufleet.adopt import find_orphans, named

    engine, inventory = _engine_and_inventory(program, environment)
    if unlock:
        adoption.unlock(engine, environment)
    mend = adoption.delete if delete else adoption.take_over
    seen: set[tuple[str, str]] = set()
    # A thing without tags is only recognised once what it hangs on is in the state: look again until nothing is new.
    while True:
        orphans = find_orphans(engine, environment, inventory)
        new = [(found, step) for found, step in orphans.wanted if (found.type, found.import_id) not in seen]
        if seen and not new:
            break
        for found, step in new:
            click.echo(f"in the cloud, not in the state: {named(step)} ({found.type} {found.import_id})")
        if only_list:
            break
        mend(engine, environment, orphans)
        seen |= {(found.type, found.import_id) for found, _ in new}
        if not new:
            break
    for found in orphans.unknown:
        click.echo(f"in the cloud, not in the state, not in the program: {found}; its tags say whose it is")
    if not only_list:
        words = "deleted" if delete else "taken over"
        click.echo(f"{environment}: {len(seen)} {words}, {len(orphans.unknown)} left; go on with `pulumi up`")
    return 0


def _engine_and_inventory(program: Path, environment: str) -> tuple["Engine", "Inventory"]:
    """The engine on the user's project and a look at the real cloud, or a rehearsal's when we are inside one."""
    rehearsal = os.environ.get("GPUFLEET_REHEARSAL")
    if rehearsal is None:
        from gpufleet.aws.inventory import AwsInventory
        from gpufleet.engine import Engine

        engine = Engine(program.resolve())
        config = json.loads(engine.answer("config", "--json", "--stack", environment))
        # Looked at elsewhere, the account would seem to hold nothing.
        region, profile = (config.get(f"aws:{key}", {}).get("value") for key in ("region", "profile"))
        return engine, AwsInventory(region, profile)
    from gpufleet_rehearsal.cloud.opening import open_cloud
    from gpufleet_rehearsal.home import Home
    from gpufleet_rehearsal.inventory import SimulatedInventory

    home = Home.of(program, Path(rehearsal))
    home.prepare()
    return home.engine(environment), SimulatedInventory(open_cloud("aws", home.root))
