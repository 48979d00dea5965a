"""`gpufleet adopt ENV`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.error_handling import exit_with_errors

if TYPE_CHECKING:
    from gpufleet.adoption.cloud_resource import Inventory
    from gpufleet.pulumi_cli import PulumiCli


@click.command()
@click.argument("environment")
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option(
    "--unlock", is_flag=True, help="Remove the lock of an engine that died. Never use it while an engine runs."
)
@click.option("--delete", is_flag=True, help="Delete these resources instead of importing them.")
@click.option("--list", "only_list", is_flag=True, help="Only list them.")
@exit_with_errors
def adopt(environment: str, program: Path, unlock: bool, delete: bool, only_list: bool) -> int:
    """Import resources of ENVIRONMENT that the cloud holds and the state does not know.

    Use it after the engine crashed during an `up`. In a rehearsal:
    gpufleet rehearse aws-dev -- gpufleet adopt aws-dev --unlock
    """
    from gpufleet.adoption import import_resources
    from gpufleet.adoption.orphans import find_orphans, logical_name, reject_ambiguous

    engine, inventory = _engine_and_inventory(program, environment)
    if unlock:
        import_resources.unlock(engine, environment)
    mend = import_resources.delete if delete else import_resources.import_resources
    seen: set[tuple[str, str]] = set()
    # A thing without tags is only recognised once what it hangs on is in the state: look again until nothing is new.
    while True:
        orphans = find_orphans(engine, environment, inventory)
        new = [(found, step) for found, step in orphans.wanted if (found.type, found.import_id) not in seen]
        if seen and not new:
            break
        for found, step in new:
            click.echo(f"in the cloud, not in the state: {logical_name(step)} ({found.type} {found.import_id})")
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
        left = len(orphans.unknown) + len(orphans.ambiguous)
        click.echo(f"{environment}: {len(seen)} {words}, {left} left; go on with `pulumi up`")
    reject_ambiguous(environment, orphans)
    return 0


def _engine_and_inventory(program: Path, environment: str) -> tuple["PulumiCli", "Inventory"]:
    """The engine on the user's project and a look at the real cloud, or a rehearsal's when we are inside one."""
    rehearsal = os.environ.get("GPUFLEET_REHEARSAL")
    if rehearsal is None:
        from gpufleet.pulumi_cli import PulumiCli

        engine = PulumiCli(program.resolve())
        return engine, _real_inventory(engine, environment)
    from gpufleet_rehearsal.cloud.open_cloud import open_cloud
    from gpufleet_rehearsal.inventory import SimulatedInventory
    from gpufleet_rehearsal.workspace import Workspace

    home = Workspace.of(program, Path(rehearsal))
    home.prepare()
    return home.engine(environment), SimulatedInventory(open_cloud(home.cloud(environment), home.root))


def _real_inventory(engine: "PulumiCli", environment: str) -> "Inventory":
    """A look at the account that the stack's configuration and the credentials in use name."""
    read = json.loads(engine.output_of("config", "--json", "--stack", environment))
    config = {key: entry.get("value") for key, entry in read.items()}
    if any(key.startswith("azure-native:") for key in config):
        from gpufleet.azure.inventory import AzureInventory, resource_groups
        from gpufleet.preflight.azure.arm import ArmClient, subscription_of

        return AzureInventory(ArmClient(subscription_of(config)), resource_groups(config, engine.state(environment)))
    from gpufleet.aws.inventory import AwsInventory

    # Looked at elsewhere, the account would seem to hold nothing.
    return AwsInventory(config.get("aws:region"), config.get("aws:profile"))
