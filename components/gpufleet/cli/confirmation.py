"""Verbs that end or take things show what they would do, then ask on a terminal, or want `--yes`.

Without a terminal and without `--yes` they change nothing and exit with 1, so that no script takes a list for a deed;
with `--dry-run` they only show it, and exit with 0.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from gpufleet.errors import UserError

F = TypeVar("F", bound=Callable[..., Any])


def confirmation_options(command: F) -> F:
    """The options `--yes` and `--dry-run`, for the arguments `yes` and `dry_run` of `confirm`."""
    command = click.option("--dry-run", is_flag=True, help="Only show what it would do: change and ask nothing.")(
        command
    )
    return click.option("--yes", is_flag=True, help="Do it without asking.")(command)


def confirm(question: str, *, yes: bool, dry_run: bool) -> bool:
    """Whether to do what has been shown; asks on a terminal. Call it only where there is something to do.

    question: without its question mark, such as `aws-dev: destroy 12 resources`.
    Errors: UserError for a `no`, and where nobody can be asked: standard input or output is not a terminal.
    """
    if yes and dry_run:
        raise click.UsageError("--yes and --dry-run contradict each other; give one of them")
    if yes or dry_run:
        return yes
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UserError(f"{question}: nothing has been changed; add --yes to do it, or --dry-run to only show it")
    try:
        agreed = click.confirm(f"{question}?", err=True)
    except click.Abort:
        click.echo(err=True)
        agreed = False
    if not agreed:
        raise UserError(f"{question}: nothing has been changed")
    return True
