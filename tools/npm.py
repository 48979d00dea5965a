"""Install what a lock file of npm pins by checksum; it names no registry, npm asks its own. No script in it is run."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from tools.cache_entry import cache_directory, make_once
from tools.progress import Say

LOCKED = ("package.json", "package-lock.json")
_SECONDS = 600


class NpmFailed(Exception):
    """npm cannot install it; the text is one line."""


def install_locked(folder: Path, workplace: Path, what: str, node: int) -> None:
    """Make `node_modules` in `workplace` from the lock file in `folder`.

    what: begins the line that says why not. node: the oldest Node.js that will do. Raises NpmFailed.
    """
    for name in LOCKED:
        shutil.copy(folder / name, workplace)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--silent"]
    try:
        done = subprocess.run(command, cwd=workplace, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NpmFailed(f"{what}: npm ci: {error}; it needs Node.js {node} or newer") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NpmFailed(f"{what}: npm ci failed: {said[-1] if said else 'it said nothing'}")


def node_modules(folder: Path, what: str, node: int, say: Say) -> Path:
    """The `node_modules` of the lock file in `folder`, in the cache for all checkouts. Errors: NpmFailed.

    what, node: as above.
    """
    digest = hashlib.sha256(b"".join((folder / name).read_bytes() for name in LOCKED)).hexdigest()[:16]

    def fill(workplace: Path) -> None:
        install_locked(folder, workplace, what, node)
        (workplace / "installed").touch()

    target = cache_directory(what, digest)
    return make_once(target, "installed", fill, f"{what}: another process installs it", say) / "node_modules"
