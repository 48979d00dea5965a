"""The oldest Python for programs that run on nodes: 3.8, where this machine has it, else the tests' own."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from shutil import which

OLDEST = (3, 8)


@cache
def oldest_python() -> Path:
    """From PATH, pyenv or uv: the first that runs."""
    name = "python{}.{}".format(*OLDEST)
    found = [which(name), _said("uv", "python", "find", "--offline", name.removeprefix("python"))]
    root = _said("pyenv", "root")
    if root:
        found += [str(each / "bin/python3") for each in Path(root, "versions").glob("{}.{}.*".format(*OLDEST))]
    for each in filter(None, found):
        if _said(each, "-c", "import sys; print(*sys.version_info[:2])") == "{} {}".format(*OLDEST):
            return Path(each)
    return Path(sys.executable)


def path_with_oldest_python(folder: Path) -> str:
    """A PATH on which python3 is that one, and all else is this machine's. folder: an empty one."""
    folder.mkdir(exist_ok=True)
    link = folder / "python3"
    if not link.is_symlink():
        link.symlink_to(oldest_python())
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def _said(*words: str) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    except OSError:
        return ""
    return "" if done.returncode else done.stdout.strip()
