"""Install Azurite, which plays blobs of an Azure storage account, into .cache/azurite of this checkout.

The version and all that it needs are pinned by checksum in package-lock.json, which names no registry: npm asks
its own. No install script of any package runs. Looks only, in milliseconds, when it is there; else half a minute and
190 MB on disk. Prints the program's path.
"""

import hashlib
import shutil
import sys
import tempfile
from pathlib import Path

from tools.file_lock import turn
from tools.npm import LOCKED, NpmFailed, install_locked
from tools.progress import teller

HERE = Path(__file__).resolve().parent
PLACE = HERE.parent.parent / ".cache" / "azurite"
PROGRAM = PLACE / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
"""Run it as `node PROGRAM`."""


def installed() -> bool:
    """Whether what is there is what the lock says."""
    stamp = PLACE / "installed"
    return PROGRAM.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == _digest()


def install() -> Path:
    """The program, installed if need be. Errors: NpmFailed."""
    if installed():
        return PROGRAM
    say = teller()
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    with turn(PLACE.parent, "azurite: another process installs it; waiting", say):
        if installed():
            return PROGRAM
        say("azurite: installing it with npm")
        workplace = Path(tempfile.mkdtemp(dir=PLACE.parent, prefix=".azurite-"))
        try:
            _fill(workplace)
            shutil.rmtree(PLACE, ignore_errors=True)
            workplace.rename(PLACE)
        finally:
            shutil.rmtree(workplace, ignore_errors=True)
    return PROGRAM


def _fill(workplace: Path) -> None:
    install_locked(HERE, workplace, "azurite", node=18)
    (workplace / "installed").write_text(_digest(), encoding="utf-8")


def _digest() -> str:
    return hashlib.sha256(b"".join((HERE / name).read_bytes() for name in LOCKED)).hexdigest()


if __name__ == "__main__":
    try:
        print(install())
    except NpmFailed as error:
        sys.exit(str(error))
