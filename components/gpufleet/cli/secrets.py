"""`gpufleet secrets put`: a value that jobs get as a variable, and that no argument, file or log shows."""

import re
import sys
from pathlib import Path

import click

from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.cli.stack_options import backend_of, of_environment, on_option, settings_of
from gpufleet.errors import UserError

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
"""What all back ends take for a name."""
MAX_BYTES = 25_600
"""Of a Key Vault secret, the smallest limit of all (Secrets Manager 65,536, Kubernetes 1 MiB).

Source: learn.microsoft.com/azure/key-vault/secrets/about-secrets.
"""


@click.group()
def secrets() -> None:
    """Secrets of an environment's jobs.

    A job takes one by `gpufleet jobs submit --secret VARIABLE=NAME`."""


@secrets.command()
@of_environment
@on_option
@click.argument("name")
@json_option
@exit_with_errors
def put(environment: str, name: str, program: Path, outputs: Path | None, on: str | None, as_json: bool) -> int:
    """Store standard input, without a line end, as the secret NAME, or replace it.

    \b
    gpufleet secrets put aws-dev wandb < wandb.key
    gpufleet jobs submit aws-dev --workers 2 --secret WANDB_API_KEY=wandb -- python3 train.py
    """
    if not _NAME.fullmatch(name):
        raise UserError(f"{environment}: name={name}: use lower-case letters, digits and - between them, at most 63")
    settings = settings_of(environment, program, outputs, on)
    value = click.prompt("Value", hide_input=True, err=as_json) if sys.stdin.isatty() else sys.stdin.read()
    value = str(value).rstrip("\r\n")
    if not value:
        raise UserError(f"{environment}: {name}: standard input is empty; write `gpufleet secrets put ... < FILE`")
    if "\0" in value or len(value.encode()) > MAX_BYTES:
        raise UserError(f"{environment}: {name}: must be text of at most {MAX_BYTES:,} bytes")
    where = backend_of(settings).put_secret(name, value)
    click.echo(f"{name}: stored as {where}; use it with --secret VARIABLE={name}", err=as_json)
    if as_json:
        print_json({"environment": environment, "name": name, "stored_as": where})
    return 0
