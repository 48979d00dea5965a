"""Write the lock files anew from pyproject.toml: every package that set-up installs, with hashes, for all platforms.

Index addresses are left out, so that each user's own index is used. Pass package names to upgrade only these; without
names everything moves to its newest version that pyproject.toml allows.
"""

import re
import subprocess
import sys

from tools.environment import LOCK, LOCKED_EXTRAS, LOCKED_GROUP, ROOT, UV, UV_LOCK, SetupFailed, installer_environment
from tools.progress import teller


def main() -> int:
    say = teller()
    if not UV.exists():
        raise SetupFailed("the lock is made by .venv/bin/uv, which is not there; run `make setup`")
    env = installer_environment()
    shape = ["--universal", "--python-version=3.11", "--generate-hashes", "--no-header", "--quiet"]
    shape += ["--no-emit-index-url", "--no-emit-find-links", "--no-emit-build-options"]
    names = sys.argv[1:]
    upgrade = [f"--upgrade-package={name}" for name in names] if names else ["--upgrade"]
    extras = [f"--extra={extra}" for extra in LOCKED_EXTRAS]
    groups = [f"--group={LOCKED_GROUP}"]
    sources = ["pyproject.toml", *extras, *groups]
    command = [str(UV), "pip", "compile", *sources, *shape, *upgrade, "--output-file", LOCK.name]
    subprocess.run(command, cwd=ROOT, env=env, check=True)
    command = [str(UV), "pip", "compile", "-", *shape, *upgrade, "--output-file", UV_LOCK.name]
    subprocess.run(command, cwd=ROOT, env=env, input=b"uv", check=True)
    for lock in (LOCK, UV_LOCK):
        text = lock.read_text(encoding="utf-8")
        say(f"{lock.name}: {len(re.findall('^[a-z]', text, re.MULTILINE))} packages")
        if "://" in text:
            raise SetupFailed(f"{lock.name} names an address; take it out of pyproject.toml")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SetupFailed as failure:
        sys.exit(f"lock: {failure}")
    except subprocess.CalledProcessError as failure:
        sys.exit(f"lock: uv ended with exit code {failure.returncode}")
