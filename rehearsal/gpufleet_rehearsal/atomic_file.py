"""Files that others read while they are written."""

import os
import stat
from pathlib import Path


def write_in_one_step(path: Path, text: str, *, executable: bool = False) -> None:
    """Write a file in one step, if it is to change: an engine may be reading it."""
    if path.exists() and path.read_text() == text:
        return
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.write_text(text)
    if executable:
        fresh.chmod(fresh.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    fresh.replace(path)
