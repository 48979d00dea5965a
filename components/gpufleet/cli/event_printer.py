"""Print a job's events, on the terminal or as JSON lines: the log to stdout, everything else to stderr."""

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from gpufleet.jobs.backend import Backend
    from gpufleet.jobs.events import Event

INTERRUPTED = 130
"""128 + SIGINT, as shells say it."""


def follow_job(
    backend: "Backend", name: str, *, logs: bool, as_json: bool, resume: str, stop: str, left: str = ""
) -> int:
    """Follow a job to its end and return its exit code.

    resume, stop: commands that follow it again and end it. left: what an interruption leaves undone.
    """
    from gpufleet.jobs.events import EventKind

    code = 0
    try:
        for event in backend.follow(name, resume, logs=logs):
            print_event(event, as_json)
            if event.kind is EventKind.END:
                code = event.code or 0
    except KeyboardInterrupt:
        again = f"{left}, {resume}" if left else f"follow it again with `{resume}`; stop it with `{stop}`"
        print_note(f"\n{name}: continues; {again}")
        raise SystemExit(INTERRUPTED) from None
    return code


def print_event(event: "Event", as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(event.as_json()))
    elif event.kind.value == "line":
        click.echo(event.text)
    else:
        print_note(event.text)


def print_note(text: str) -> None:
    click.echo(text, err=True)
