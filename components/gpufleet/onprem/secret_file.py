"""A file that holds a secret."""

from pathlib import Path

from gpufleet.atomic_file import write_atomically
from gpufleet.errors import UserError


def write_secret_file(file: Path, text: str) -> None:
    """Write it so that nobody else can read it at any moment (mode 0600), whole or not at all.

    Errors: UserError, one line.
    """
    try:
        write_atomically(file, text, mode=0o600)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from error
