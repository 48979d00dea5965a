"""Install JupyterHub, KubeSpawner and OAuthenticator into .cache/jupyterhub, an environment of its own.

The hub of the chart runs these three; tests ask them what they make of the values that we give the chart. All that
they need is pinned by checksum in requirements.lock, which names no index. Written anew by
`uv pip compile --generate-hashes --universal --python-version 3.11 requirements.in -o requirements.lock`. Looks only,
in milliseconds, when it is there; else half a minute and 250 MB on disk. Prints the interpreter's path.
"""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tools.file_lock import turn
from tools.progress import teller

HERE = Path(__file__).resolve().parent
LOCK = HERE / "requirements.lock"
PLACE = HERE.parent.parent / ".cache" / "jupyterhub"
PYTHON = PLACE / "bin" / "python"
_SECONDS = 600


class NoJupyterHub(Exception):
    """It cannot be installed here; the text is one line."""


def installed() -> bool:
    """Whether what is there is what the lock says."""
    stamp = PLACE / "installed"
    return PYTHON.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == _digest()


def install() -> Path:
    """The interpreter, with the packages installed if need be. Errors: NoJupyterHub."""
    if installed():
        return PYTHON
    say = teller()
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    with turn(PLACE.parent, "jupyterhub: another process installs it; waiting", say):
        if installed():
            return PYTHON
        say("jupyterhub: installing it from the lock")
        # In its place from the start: an environment cannot be moved. Without the stamp it counts as not there.
        shutil.rmtree(PLACE, ignore_errors=True)
        _run([sys.executable, "-m", "venv", str(PLACE)])
        _run([str(PYTHON), "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps", "-r", str(LOCK)])
        (PLACE / "installed").write_text(_digest(), encoding="utf-8")
    return PYTHON


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoJupyterHub(f"jupyterhub: {error}") from error
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise NoJupyterHub(f"jupyterhub: {command[2]} failed: {said[-1] if said else 'it said nothing'}")


def _digest() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest()


if __name__ == "__main__":
    try:
        print(install())
    except NoJupyterHub as error:
        sys.exit(str(error))
