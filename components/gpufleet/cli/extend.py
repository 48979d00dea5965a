"""`gpufleet extend ENV 7d`: change an environment's expiry."""

import os
from datetime import date, timedelta
from pathlib import Path

import click

from gpufleet.atomic_file import write_atomically
from gpufleet.cli.confirmation import confirm, confirmation_options
from gpufleet.cli.environment_argument import environment_argument
from gpufleet.cli.error_handling import exit_with_errors
from gpufleet.cli.output_options import json_option, print_json
from gpufleet.errors import UserError


@click.command()
@environment_argument()
@click.argument("until", metavar="7d|2w|DAY")
@confirmation_options
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@json_option
@exit_with_errors
def extend(environment: str, until: str, yes: bool, dry_run: bool, program: Path, as_json: bool) -> int:
    """Change the expiry of ENVIRONMENT in its configuration file.

    The next `up` writes it to the tags.

    Days count from the expiry, or from today if it has passed; a lifetime becomes that much longer. The file's
    comments and order stay. It asks if the new expiry is not later than the old one, because `gpufleet reap` would then
    destroy the environment earlier.

    \b
    gpufleet extend aws-dev 7d
    gpufleet extend aws-dev 2027-01-31
    """
    from gpufleet.fleet.extend import configuration_file, extended_expiry, read_expiry, replace_expiry

    file = configuration_file(program, environment)
    try:
        # In bytes, so that the ends of lines stay as they are.
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    before = read_expiry(text, str(file))
    after = extended_expiry(until, before, date.today())
    changed = replace_expiry(text, after, str(file))
    found = {"environment": environment, "file": str(file), "before": _end(before), "after": _end(after)}
    would = f"{environment}: would end {_words(after)} instead of {_words(before)}"
    if "GPUFLEET_REHEARSAL" in os.environ:
        click.echo(f"{would}; a rehearsal never writes {file.name}", err=as_json)
        agreed = False
    else:
        agreed = True
        if dry_run or not _is_later(after, before):
            click.echo(f"{would} ({file.name})", err=as_json)
            agreed = confirm(f"{environment}: end it {_words(after)}", yes=yes, dry_run=dry_run)
    if agreed:
        _write(file, changed)
        click.echo(f"{environment}: ends {_words(after)} instead of {_words(before)} ({file.name})", err=as_json)
        click.echo(f"its tags say so after the next `pulumi up -s {environment}`", err=as_json)
    if as_json:
        print_json(found | {"changed": agreed})
    return 0


def _is_later(after: date | str, before: date | timedelta | None) -> bool:
    """Whether an environment certainly continues for as long as before; a lifetime has only ever become longer."""
    return isinstance(after, str) or (isinstance(before, date) and after >= before)


def _end(end: date | timedelta | str | None) -> str | None:
    """A day, or a lifetime such as 312h; None for never."""
    if isinstance(end, timedelta):
        return f"{end // timedelta(hours=1)}h"
    return None if end is None else str(end)


def _words(end: date | timedelta | str | None) -> str:
    if isinstance(end, timedelta):
        end = _end(end)
    return "never" if end is None else f"{end} after it was made" if isinstance(end, str) else f"on {end}"


def _write(file: Path, text: str) -> None:
    """Replace the file; its mode stays. Errors: UserError."""
    try:
        write_atomically(file, text)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
