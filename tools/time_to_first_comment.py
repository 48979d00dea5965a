"""`make first-comment`: an outsider's path, timed: from `git clone` to the first comment on a pull request.

With an empty cache: packages are fetched and the engine is fetched or built anew. GitHub is played, on this machine
(pull_request/fake_github.py); the clouds are stand-ins. Needs what a clone needs: git, make, Python, and Go where
Pulumi's installer cannot be reached. Exit code 1 where it took longer than it may.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 600
"""Seconds that it may take on two processors."""
CACHES = {
    "XDG_CACHE_HOME": "cache",
    "UV_CACHE_DIR": "uv",
    "PIP_CACHE_DIR": "pip",
    "GOCACHE": "go-build",
    "GOMODCACHE": "go-mod",
    "PULUMI_HOME": "pulumi",
}
CHANGE = ("stacks/config/Pulumi.aws-dev.yaml", "max: 2", "max: 1")
"""One number of the smallest environment."""


def main() -> int:
    from tools.pull_request.fake_github import fake_github

    with tempfile.TemporaryDirectory(prefix="gpufleet-first-") as place, fake_github() as played:
        folder = Path(place) / "gpufleet"
        gone = ("GITHUB_", "GITLAB_", "CI_", "PULUMI_", "GPUFLEET_", "VIRTUAL_ENV")
        env = {name: value for name, value in os.environ.items() if not name.startswith(gone)}
        env |= {name: str(Path(place) / "caches" / each) for name, each in CACHES.items()}
        # An engine that is installed already would be found; an outsider has none.
        env["PATH"] = os.pathsep.join(each for each in env["PATH"].split(os.pathsep) if not _has_engine(each))
        began = time.monotonic()
        _step("clone", ["git", "clone", "--quiet", str(ROOT), str(folder)], Path(place), env)
        _step("set up", ["make", "setup"], folder, env)
        file, old, new = CHANGE
        text = (folder / file).read_text(encoding="utf-8")
        if old not in text:
            sys.exit(f"{file}: has no `{old}` any more; say another number in tools/time_to_first_comment.py")
        (folder / file).write_text(text.replace(old, new, 1), encoding="utf-8")
        somebody = ["git", "-c", "user.name=somebody", "-c", "user.email=somebody@invalid"]
        _step("change", [*somebody, "commit", "--quiet", "--all", "--message", "one number"], folder, env)
        head = _answer(["git", "rev-parse", "HEAD"], folder)
        played.heads[7] = head
        event = Path(place) / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 7, "head": {"sha": head}}}), encoding="utf-8")
        env |= played.environment(run=1) | {"GITHUB_EVENT_PATH": str(event)}
        _step("preview", ["make", "preview", "ARGS=--base HEAD^ --comment"], folder, env)
        taken = time.monotonic() - began
        (comment,) = played.comments
        headline = next(line for line in comment["body"].splitlines() if line.startswith("**"))
        print(
            f"first comment after {taken:.0f} s, at most {LIMIT}; {_processor_seconds():.0f} s of processor time, load "
            f"{os.getloadavg()[0]:.1f}, {os.cpu_count()} processors: {headline}"
        )
    return 0 if taken <= LIMIT else 1


def _step(name: str, command: list[str], folder: Path, env: Mapping[str, str]) -> None:
    began, used = time.monotonic(), _processor_seconds()
    done = subprocess.run(command, cwd=folder, env=dict(env), capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{name}: ended with {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
    print(
        f"{name}: {time.monotonic() - began:.0f} s, {_processor_seconds() - used:.0f} s of processor time", flush=True
    )


def _answer(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


def _processor_seconds() -> float:
    """Of all that has been run so far: tells a machine that is busy otherwise from a path that is long."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _has_engine(folder: str) -> bool:
    return (Path(folder) / "pulumi").exists()


if __name__ == "__main__":
    sys.exit(main())
