"""What happens to a job, on the terminal or as JSON lines: the log on the standard output, all else beside it."""

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gpufleet.jobs.backend import Backend
    from gpufleet.jobs.events import Event

INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""


def followed(
    backend: "Backend", name: str, *, logs: bool, as_json: bool, resume: str, stop: str, left: str = ""
) -> int:
    """Follow a job to its end and return its exit code.

    resume, stop: commands that follow it again and end it. left: what an interruption leaves undone.
    """
    from gpufleet.jobs.events import Kind

    code = 0
    try:
        for event in backend.follow(name, resume, logs=logs):
            show(event, as_json)
            if event.kind is Kind.END:
                code = event.code or 0
    except KeyboardInterrupt:
        again = f"{left}, {resume}" if left else f"follow it again with `{resume}`; stop it with `{stop}`"
        note(f"\n{name}: goes on; {again}")
        raise SystemExit(INTERRUPTED) from None
    return code


def show(event: "Event", as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(event.as_json()))
    elif event.kind.value == "line":
        click.echo(event.text)
    else:
        note(event.text)


def note(text: str) -> None:
    click.echo(text, err=True)
