"""Error handling of commands: an error for the user becomes one line and exit code 1; 130 after Ctrl-C."""

import functools
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec

import click

from gpufleet.errors import UserError
from gpufleet.extras import install_hint

P = ParamSpec("P")

_INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""

_EXTRAS = {
    "boto3": "accounts",
    "botocore": "rehearsal",
    "azure": "accounts",
    "azure.batch": "jobs",
    "azure.storage": "jobs",
    "urllib3": "accounts",
    "grpc": "rehearsal",
}
"""Package -> the extra that brings it, for what commands import when they run, the longer name first; any other: all
of them. Several extras bring urllib3, so who imports it decides first: _IMPORTERS."""

_IMPORTERS = {"gpufleet_rehearsal": "rehearsal"}
"""Our package -> the extra that brings everything which it imports."""


def exit_with_errors(command: Callable[P, int]) -> Callable[P, None]:
    """Turn an error for the user into one line, and a missing extra into its install command."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            sys.exit(command(*args, **kwargs))
        except UserError as error:
            raise click.ClickException(str(error)) from error
        except KeyboardInterrupt:
            # Commands that leave something behind say so themselves; click would end with 1, as after a fault.
            click.echo("Error: interrupted", err=True)
            sys.exit(_INTERRUPTED)
        except ModuleNotFoundError as error:
            raise click.ClickException(f"{error.name} is not installed; {install_hint(_extras(error))}") from error

    return run


def _extras(error: ModuleNotFoundError) -> str:
    """The extras that bring a missing package: those of its importer, else those of the package."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        importer = str(frame.f_globals.get("__name__")).partition(".")[0]
        if importer in _IMPORTERS:
            return _IMPORTERS[importer]
    package = (error.name or "").split(".")
    return _EXTRAS.get(".".join(package[:2])) or _EXTRAS.get(package[0], "accounts,aws,policies,rehearsal")
