"""Files that are replaced in one step: a reader finds the old content or the new, and a crash leaves no half."""

import os
import stat
import tempfile
from pathlib import Path

_PUBLIC_MODE = 0o644


def write_atomically(path: Path, content: str | bytes, *, mode: int | None = None, sync: bool = False) -> None:
    """Write a file whole or not at all, through a temporary file beside it.

    content: text is written as UTF-8, with its line breaks as they are. mode: of the file; by default that of the file
    that is replaced, else 0644. No other user can read the content before the mode is set. sync: whether it is on the
    disk before this returns. Errors: OSError; the old file stays then.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fchmod(file.fileno(), _mode_of(path) if mode is None else mode)
            if sync:
                os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def update_file(path: Path, text: str, *, mode: int = _PUBLIC_MODE) -> None:
    """Write a file whole or not at all, unless it has this content already. Errors: OSError."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_atomically(path, text, mode=mode)


def _mode_of(path: Path) -> int:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return _PUBLIC_MODE
