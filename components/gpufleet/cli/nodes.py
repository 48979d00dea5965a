"""`gpufleet nodes list|script`: the nodes of an environment's cluster, and how an own server becomes one."""

import json
from pathlib import Path

import click

from gpufleet.cli.error_handling import for_the_user
from gpufleet.cli.stack_options import api_of, of_environment, outputs_of, settings_of
from gpufleet.errors import UserError


@click.group()
def nodes() -> None:
    """Nodes of an environment's cluster, and own servers that may join it. Those that leave are drained by kubectl."""


@nodes.command("list")
@of_environment
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@for_the_user
def list_(environment: str, program: Path, outputs: Path | None, as_json: bool) -> int:
    """Nodes by pool: GPUs, place, whether they are ready or cordoned; and own servers that have not joined yet."""
    from gpufleet.onprem.listing import as_json as as_data
    from gpufleet.onprem.listing import lines, rows
    from gpufleet.onprem.servers import own_servers_of

    own = own_servers_of(outputs_of(environment, program, outputs), environment)
    settings = settings_of(environment, program, outputs, "kubernetes")
    found = rows(api_of(settings).get("/api/v1/nodes")["items"], own.servers if own else {})
    if as_json:
        click.echo(json.dumps(as_data(found), indent=2))
        return 0
    for line in lines(found):
        click.echo(line)
    return 0


@nodes.command()
@of_environment
@click.argument("node")
@click.option("--to", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write it to FILE, mode 0600.")
@for_the_user
def script(environment: str, node: str, file: Path | None, program: Path, outputs: Path | None) -> int:
    """What makes the own server NODE a node of the cluster: a shell script, to be run on it as root.

    It can be run again, and holds a secret: whoever has it can join a server while the activation lasts.

    \b
    gpufleet nodes script hybrid gpu-1 --to join-gpu-1.sh
    """
    from gpufleet.onprem.join_script import script_of
    from gpufleet.onprem.secret_file import write_secret_file
    from gpufleet.onprem.servers import own_servers_of

    own = own_servers_of(outputs_of(environment, program, outputs), environment)
    if own is None:
        raise UserError(
            f"{environment}: node={node}: the environment joins no own servers; name them under gpufleet:own_servers "
            "and run `pulumi up`"
        )
    text = script_of(own, own.server(node, environment))
    if file is None:
        click.echo(text, nl=False)
    else:
        write_secret_file(file, text)
    where = f"{file}" if file else "the script"
    click.echo(f"{where}: holds a secret; copy it to {node}, run it there as root, and delete it", err=True)
    return 0
