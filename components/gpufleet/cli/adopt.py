"""`gpufleet adopt ENV`."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gpufleet.cli.confirmation import confirm, confirmation_options
from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json

if TYPE_CHECKING:
    from gpufleet.adoption.cloud_resource import Inventory
    from gpufleet.adoption.orphans import Orphans
    from gpufleet.pulumi_cli import PulumiCli


@click.command()
@environment_argument()
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@click.option(
    "--unlock", is_flag=True, help="Remove the lock of an engine that died. Never use it while an engine runs."
)
@click.option(
    "--delete", is_flag=True, help="Delete these resources instead of importing them; keep those that hold data."
)
@click.option("--lost-state", is_flag=True, help="Import most of an environment, because its state is lost.")
@confirmation_options
@json_option
@exit_with_errors
def adopt(
    environment: str,
    program: Path,
    unlock: bool,
    delete: bool,
    lost_state: bool,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Import resources of ENVIRONMENT that its state does not have.

    Use it after the engine crashed during an `up`, or when the state is lost. It first lists what it would import, and
    imports only resources with the mark, environment, project and owner of this stack. In a rehearsal:
    gpufleet rehearse aws-dev -- gpufleet adopt aws-dev --unlock --yes
    """
    from gpufleet.adoption import import_resources
    from gpufleet.adoption.orphans import find_orphans, reject_lost_state
    from gpufleet.adoption.releases import import_releases, lost_releases

    if delete and lost_state:
        raise click.UsageError("--delete and --lost-state contradict each other; import, then `pulumi destroy`")
    engine, inventory = _engine_and_inventory(program, environment)
    if as_json:
        engine = replace(engine, output=sys.stderr)
    erase = delete and str(engine.config(environment).get("gpufleet:erase", "")).lower() == "true"
    choose = partial(import_resources.deletable, erase=erase) if delete else _everything
    orphans = find_orphans(engine, environment, inventory)
    chosen, shown = choose(orphans), set[str]()
    _show(orphans, chosen, shown, as_json)
    if not lost_state:
        reject_lost_state(environment, orphans)
    releases = lost_releases(engine, environment) if lost_state else []
    for release in releases:
        click.echo(f"not in the state, imported if the cluster has it: Helm release {release}", err=as_json)
    tasks = _tasks(engine, environment, len(chosen.wanted), len(releases), unlock=unlock, delete=delete)
    done, changed = set[str](), 0
    agreed = not tasks or confirm(f"{environment}: {', '.join(tasks)}", yes=yes, dry_run=dry_run)
    if agreed:
        if unlock:
            import_resources.unlock(engine, environment)
        act = import_resources.delete if delete else import_resources.import_resources
        while tasks:
            act(engine, environment, chosen)
            done |= {str(step["urn"]) for _, step in chosen.wanted}
            # Some things are only recognised once what they hang on is in the state: look until nothing is new.
            orphans = find_orphans(engine, environment, inventory)
            chosen = choose(orphans)
            if not (_show(orphans, chosen, shown, as_json) and chosen.wanted):
                break
        changed = len(done) + (len(import_releases(engine, environment)) if releases else 0)
        others = f", {len(orphans.foreign)} of other owners" if orphans.foreign else ""
        words = "deleted" if delete else "imported"
        click.echo(
            f"{environment}: {changed} {words}, {_left(orphans)} left{others}; continue with `pulumi up`", err=as_json
        )
        if done and not delete:
            import_resources.reject_replacements(engine, environment, done)
    if as_json:
        counts = {"changed": changed, "left": _left(orphans), "of_other_owners": len(orphans.foreign)}
        action = "delete" if delete else "import"
        print_json({"environment": environment, "action": action, "tasks": tasks, **counts, "found": sorted(shown)})
    return 1 if orphans.ambiguous else 0


def _left(orphans: "Orphans") -> int:
    """How many resources the state still lacks."""
    return sum(map(len, (orphans.wanted, orphans.unknown, orphans.ambiguous, orphans.interrupted)))


def _everything(orphans: "Orphans") -> "Orphans":
    return orphans


def _show(orphans: "Orphans", chosen: "Orphans", shown: set[str], err: bool) -> bool:
    """Print what is missing in the state, each line once; whether there was a new one."""
    new = [line for line in _lines(orphans, chosen) if line not in shown]
    for line in new:
        click.echo(line, err=err)
    shown |= set(new)
    return bool(new)


def _lines(orphans: "Orphans", chosen: "Orphans") -> Iterator[str]:
    """What is missing in the state, a line for each. chosen: those to import or to delete."""
    from gpufleet.adoption.match import logical_name

    taken = {found.import_id for found, _ in chosen.wanted}
    for found, step in orphans.wanted:
        text = f"{logical_name(step)} ({found.type} {found.import_id})"
        kept = "" if found.import_id in taken else "; holds data or is protected: not deleted"
        yield f"in the cloud, not in the state: {text}{kept}"
    for found, _ in orphans.interrupted:
        text = "to be deleted" if found.import_id in taken else "delete it with --delete, or by hand if it holds data"
        yield f"in the cloud, not in the state: {found}: a replacement that was interrupted; {text}"
    for found in orphans.unknown:
        yield f"in the cloud, not in the state, not in the program: {found}; left alone"
    for found, differences in orphans.foreign:
        yield f"in the cloud, not certainly this stack's: {found}: {', '.join(differences)}; left alone"
    yield from orphans.ambiguities


def _tasks(
    engine: "PulumiCli", environment: str, resources: int, releases: int, *, unlock: bool, delete: bool
) -> list[str]:
    """What there is to do, for the question."""
    from gpufleet.rules.messages import plural

    interrupted = engine.pending_operations(environment)
    counts = {
        f"{'delete' if delete else 'import'} {plural(resources, 'resource')}": resources,
        f"import {plural(releases, 'Helm release')}": releases,
        f"clear {plural(interrupted, 'interrupted operation')}": interrupted,
    }
    return [*(["remove the lock"] if unlock else []), *(text for text, number in counts.items() if number)]


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
    from gpufleet.documents.json import parse_json

    read = parse_json(engine.output_of("config", "--json", "--stack", environment), "pulumi config")
    config = {key: entry.get("value") for key, entry in read.items()}
    if any(key.startswith("azure-native:") for key in config):
        from gpufleet.azure.inventory import AzureInventory, resource_groups
        from gpufleet.preflight.azure.arm import ArmClient, subscription_of

        return AzureInventory(ArmClient(subscription_of(config)), resource_groups(config, engine.state(environment)))
    from gpufleet.aws.inventory import AwsInventory

    # Looked at elsewhere, the account would seem to hold nothing.
    return AwsInventory(config.get("aws:region"), config.get("aws:profile"))
