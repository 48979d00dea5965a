"""A file that holds a secret."""

import os
from pathlib import Path

from gpufleet.errors import UserError


def write_secret_file(file: Path, text: str) -> None:
    """Write it so that nobody else can read it at any moment (mode 0600), whole or not at all.

    Errors: UserError, one line.
    """
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
        fresh.replace(file)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise UserError(f"{file}: {error.strerror}") from error
