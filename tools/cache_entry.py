"""What set-up makes once for all checkouts of a user: an entry of the cache is whole or not there.

The cache is `$XDG_CACHE_HOME/gpufleet`, by default `~/.cache/gpufleet`.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from tools.file_lock import turn
from tools.progress import Say


def cache_directory(*parts: str) -> Path:
    """The place in the cache that `parts` name. It need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base, "gpufleet", *parts)


def make_once(target: Path, marker: str, make: Callable[[Path], None], waiting: str, say: Say) -> Path:
    """Fill the directory `target` by `make`, unless it holds a file called `marker` already; returns `target`.

    `make` gets a directory beside it that is renamed at the end, so an interrupted set-up leaves nothing half made. A
    file lock keeps two set-ups from making one twice: the second says `waiting`, and waits. Whatever `make` raises
    goes through.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with turn(target.parent, waiting, say):
        if not (target / marker).exists():
            for stale in target.parent.glob(f".{target.name}-*"):
                shutil.rmtree(stale)
            workplace = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
            try:
                make(workplace)
                workplace.chmod(0o755)
                workplace.rename(target)
            finally:
                shutil.rmtree(workplace, ignore_errors=True)
    return target
