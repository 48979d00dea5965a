"""One at a time: a lock between processes that ends with its holder, whatever happens to it."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.progress import Say


@contextmanager
def turn(place: Path, waiting: str, say: Say) -> Iterator[None]:
    """Hold the lock on `place`, an existing file or directory; say `waiting` once where another process has it."""
    handle = os.open(place, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(waiting)
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
