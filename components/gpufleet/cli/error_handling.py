"""Error handling of commands: an error for the user becomes one line and exit code 1; 130 after Ctrl-C."""

import functools
import sys
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
of them."""


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
            package = (error.name or "").split(".")
            extra = _EXTRAS.get(".".join(package[:2])) or _EXTRAS.get(package[0], "accounts,aws,policies,rehearsal")
            raise click.ClickException(f"{error.name} is not installed; {install_hint(extra)}") from error

    return run
