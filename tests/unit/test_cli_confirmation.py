"""Before a verb ends or takes things it asks on a terminal, and elsewhere it wants to be told."""

import os
import pty
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner, Result

from gpufleet.cli.confirmation import confirm, confirmation_options
from gpufleet.cli.error_handling import exit_with_errors

PROGRAM = """
from gpufleet.errors import UserError
from gpufleet.cli.confirmation import confirm
try:
    print("done" if confirm("dev: end 2 jobs", yes=False, dry_run=False) else "shown")
except UserError as error:
    print("refused:", error)
"""


def run(*words: str) -> Result:
    @click.command()
    @confirmation_options
    @exit_with_errors
    def end(yes: bool, dry_run: bool) -> int:
        click.echo("dev: 2 jobs would end")
        if confirm("dev: end 2 jobs", yes=yes, dry_run=dry_run):
            click.echo("done")
        return 0

    return CliRunner().invoke(end, words)


def test_without_a_terminal_it_wants_to_be_told() -> None:
    shown = "dev: 2 jobs would end\n"
    found = run("--yes")
    assert (found.exit_code, found.output) == (0, f"{shown}done\n")
    found = run("--dry-run")
    assert (found.exit_code, found.output) == (0, shown)
    found = run()
    assert (found.exit_code, found.stdout) == (1, shown)
    assert found.stderr == (
        "Error: dev: end 2 jobs: nothing has been changed; add --yes to do it, or --dry-run to only show it\n"
    )
    found = run("--yes", "--dry-run")
    assert (found.exit_code, "done" in found.output) == (2, False)
    assert "Error: --yes and --dry-run contradict each other; give one of them" in found.stderr


@pytest.mark.parametrize(
    ("keys", "end"),
    [
        (b"y\n", "done"),
        (b"n\n", "refused: dev: end 2 jobs: nothing has been changed"),
        (b"\n", "refused: dev: end 2 jobs: nothing has been changed"),
        # Ctrl-D.
        (b"\x04", "refused: dev: end 2 jobs: nothing has been changed"),
    ],
)
def test_on_a_terminal_it_asks(keys: bytes, end: str) -> None:
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", PROGRAM], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    text = b""
    while b"[y/N]: " not in text:
        text += os.read(ours, 1000)
    os.write(ours, keys)
    try:
        while part := os.read(ours, 1000):
            text += part
    except OSError:
        # The other end of a terminal is closed.
        pass
    os.close(ours)
    assert child.wait() == 0
    lines = text.decode().replace("\r\n", "\n").splitlines()
    assert lines[0].startswith("dev: end 2 jobs? [y/N]: ")
    assert lines[-1] == end
