"""`gpufleet adopt ENV`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.exits import for_the_user
from gpufleet.errors import UserError

if TYPE_CHECKING:
    from gpufleet.adopt import Inventory
    from gpufleet.engine import Engine


@click.command()
@click.argument("environment")
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option("--unlock", is_flag=True, help="Remove the lock of an engine that died. Never while one is at work.")
@click.option("--delete", is_flag=True, help="Delete what the state does not hold, instead of taking it over.")
@click.option("--list", "only_list", is_flag=True, help="Only say what there is.")
@for_the_user
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
        if any(key.startswith("azure-native:") for key in config):
            raise _not_on_azure(environment)
        # Looked at elsewhere, the account would seem to hold nothing.
        region, profile = (config.get(f"aws:{key}", {}).get("value") for key in ("region", "profile"))
        return engine, AwsInventory(region, profile)
    from gpufleet_rehearsal.cloud.opening import open_cloud
    from gpufleet_rehearsal.home import Home
    from gpufleet_rehearsal.inventory import SimulatedInventory

    home = Home.of(program, Path(rehearsal))
    home.prepare()
    cloud = home.cloud(environment)
    if cloud != "aws":
        raise _not_on_azure(environment)
    return home.engine(environment), SimulatedInventory(open_cloud(cloud, home.root))


def _not_on_azure(environment: str) -> UserError:
    return UserError(
        f"{environment}: gpufleet adopt looks at AWS only; all of an Azure environment lies in one resource group: "
        "`az resource list --resource-group GROUP` lists it, `pulumi import` takes each over by its id"
    )
