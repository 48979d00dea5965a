"""`gpufleet users read`."""

import sys
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.errors import UserError


@click.group()
def users() -> None:
    """Users of a team, and the uid of each user's jobs."""


@users.command()
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--only", metavar="NAMES", help="Only these users: comma-separated names. Default: all.")
@click.option("--least-id", type=int, default=1000, metavar="N", show_default=True, help="Skip uids below this.")
@json_option
@exit_with_errors
def read(file: Path | None, only: str | None, least_id: int, as_json: bool) -> int:
    """Print the mapping for `gpufleet:team.users` as YAML, from FILE or standard input.

    \b
    getent passwd ana ben | gpufleet users read
    ldapsearch -LLL -H ldaps://dc.example -b ou=people,dc=example -x \\
      '(memberOf=cn=vision,ou=groups,dc=example)' uid uidNumber gidNumber | gpufleet users read
    """
    import yaml

    from gpufleet.rules.kubernetes.users import validate_users
    from gpufleet.users.directory_import import parse_users

    source = str(file or "standard input")
    try:
        text = file.read_text(encoding="utf-8") if file else sys.stdin.read()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{source}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    found, skipped = parse_users(text, source, least_id)
    if only:
        wanted = [name for name in only.split(",") if name]
        missing = [name for name in wanted if name not in found]
        if missing:
            raise UserError("\n".join(f"{source}: only={name}: user not found; check the spelling" for name in missing))
        found = {name: found[name] for name in wanted}
    lines = [each.line(source) for each in validate_users({"users": found, "least_id": least_id}) if each.rejects]
    if lines:
        raise UserError("\n".join(lines))
    for line in skipped if not only else ():
        click.echo(f"note: left out: {line}", err=True)
    if as_json:
        print_json({"users": found, "left_out": skipped if not only else []})
        return 0
    click.echo(yaml.safe_dump(found, default_flow_style=None, sort_keys=False), nl=False)
    return 0
