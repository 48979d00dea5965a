"""`--tensorboard`: show the files that a command has copied in the TensorBoard that is installed here."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import click

from gpufleet.errors import UserError

RENEWED_SECONDS = 60
"""TensorBoard itself reads its folder again every 5 s: github.com/tensorflow/tensorboard, --reload_interval."""

tensorboard_option = click.option(
    "--tensorboard", is_flag=True, help="Then show them in TensorBoard, and copy again every minute until Ctrl-C."
)


def tensorboard_program(*, as_json: bool) -> str:
    """Path of TensorBoard. Errors: UserError if it is not installed, or if the output is to be JSON."""
    if as_json:
        raise UserError("tensorboard: shows a page until Ctrl-C; leave out --json")
    if program := shutil.which("tensorboard"):
        return program
    raise UserError("tensorboard: is not on PATH; install it, `pip install tensorboard`, or leave out --tensorboard")


def show_in_tensorboard(program: str, folder: Path, copy_again: Callable[[], object]) -> int:
    """Run TensorBoard on a folder, on this machine alone, until it ends or Ctrl-C; its exit code.

    copy_again: brings the folder up to date. Its UserError is a line, and the copy is tried again.
    """
    server = subprocess.Popen([program, "--logdir", str(folder), "--host", "localhost"])
    try:
        while True:
            try:
                return server.wait(RENEWED_SECONDS)
            except subprocess.TimeoutExpired:
                pass
            try:
                copy_again()
            except UserError as error:
                click.echo(f"Error: {error}; trying again in {RENEWED_SECONDS} s", err=True)
    except KeyboardInterrupt:
        return 0
    finally:
        server.terminate()
        server.wait()
