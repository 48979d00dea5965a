"""`gpufleet extend ENV 7d`: another day for an environment's end."""

import os
import tempfile
from datetime import date, timedelta
from pathlib import Path

import click

from gpufleet.cli.error_handling import for_the_user
from gpufleet.errors import UserError


@click.command()
@click.argument("environment")
@click.argument("until", metavar="7d|2w|DAY")
@click.option("--program", default=".", type=click.Path(path_type=Path), help="Pulumi project. Default: here or above.")
@for_the_user
def extend(environment: str, until: str, program: Path) -> int:
    """Move the day on which ENVIRONMENT ends, in its configuration file. The next `up` writes it into the tags.

    Days are counted from its end, or from today once that has passed; a lifetime becomes that much longer. Comments
    and order of the file stay.

    \b
    gpufleet extend aws-dev 7d
    gpufleet extend aws-dev 2027-01-31
    """
    from gpufleet.fleet.extend import configuration_of, end_in, new_end, with_end

    file = configuration_of(program, environment)
    try:
        # In bytes, so that the ends of lines stay as they are.
        text = file.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    before = end_in(text, str(file))
    after = new_end(until, before, date.today())
    _write(file, with_end(text, after, str(file)))
    click.echo(f"{environment}: ends {_words(after)} instead of {_words(before)} ({file.name})")
    click.echo(f"its tags say so after the next `pulumi up -s {environment}`")
    return 0


def _words(end: date | timedelta | str | None) -> str:
    if isinstance(end, timedelta):
        end = f"{end // timedelta(hours=1)}h"
    return "never" if end is None else f"{end} after it was made" if isinstance(end, str) else f"on {end}"


def _write(file: Path, text: str) -> None:
    """Replace a file in one step, so that no crash leaves half of it; its mode stays. Errors: UserError."""
    try:
        mode = file.stat().st_mode
        with tempfile.NamedTemporaryFile("wb", dir=file.parent, delete=False) as new:
            new.write(text.encode("utf-8"))
            new.flush()
            os.fchmod(new.fileno(), mode)
        Path(new.name).replace(file)
    except OSError as error:
        raise UserError(f"{file}: cannot be written: {error.strerror}") from error
