"""`gpufleet nodes list|script`: the nodes of an environment's cluster, and the script that joins an on-prem server."""

import json
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option
from gpufleet.cli.stack_options import any_team, api_of, of_environment, outputs_of, settings_of
from gpufleet.errors import UserError


@click.group()
def nodes() -> None:
    """Nodes of a cluster, and on-prem servers that can join it.

    To remove one, drain it with kubectl."""


@nodes.command("list")
@of_environment
@json_option
@exit_with_errors
def list_(environment: str, program: Path, outputs: Path | None, as_json: bool) -> int:
    """List nodes by pool with GPUs, place and state, and on-prem servers that have not joined yet."""
    from gpufleet.onprem.listing import as_json as as_data
    from gpufleet.onprem.listing import lines, rows
    from gpufleet.onprem.servers import onprem_servers_of

    told = outputs_of(environment, program, outputs)
    own = onprem_servers_of(told, environment)
    # Nodes do not belong to a team.
    settings = settings_of(environment, program, outputs, "kubernetes", team=any_team(told))
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
@click.option(
    "--to", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the script to FILE with mode 0600."
)
@exit_with_errors
def script(environment: str, node: str, file: Path | None, program: Path, outputs: Path | None) -> int:
    """Print the shell script that joins the on-prem server NODE to the cluster. Run it there as root.

    You can run it again. It contains a secret: anyone who has it can join a server while the activation is valid.

    \b
    gpufleet nodes script hybrid gpu-1 --to join-gpu-1.sh
    """
    from gpufleet.onprem.join_script import script_of
    from gpufleet.onprem.secret_file import write_secret_file
    from gpufleet.onprem.servers import onprem_servers_of

    own = onprem_servers_of(outputs_of(environment, program, outputs), environment)
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
