"""The default tag of an image: unique, since repositories' tags are immutable, and naming the commit."""

import subprocess
from datetime import datetime
from pathlib import Path

_SECONDS = 30
"""git status of a large working tree on a network file system."""


def default_tag(directory: Path, now: datetime) -> str:
    """20261121-150405-g1a2b3c4d5e6f: the time in UTC, and the commit that `directory` is at.

    With -dirty behind it where files of `directory` differ from the commit; the time alone outside of git. The time is
    always there: one commit can be built again, on a newer base image, and gets another digest.
    """
    time = f"{now:%Y%m%d-%H%M%S}"
    commit = _git(directory, "rev-parse", "--short=12", "HEAD")
    if not commit:
        return time
    changed = _git(directory, "status", "--porcelain", "--", ".")
    return f"{time}-g{commit}" + ("-dirty" if changed != "" else "")


def _git(directory: Path, *words: str) -> str | None:
    """What git says; None when it is not there, or cannot say."""
    command = ["git", "-C", str(directory), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
