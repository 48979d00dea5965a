"""`python -m tools.mutations`: whether tests notice one wrong line at a time; tests/mutations.yaml lists the lines.

Each mutation is made in a copy of the tracked files, and the tests that it names run there; `make test` runs them too.
Exit codes: 0 when each is noticed; 1 when one is not, or when the tests fail on the copy as it is.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "mutations.yaml"


def copy_of(root: Path, target: Path) -> None:
    """The files that git tracks, or would, as they are in the working tree."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(listing, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0"):
        if name and (root / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name)


def failure(folder: Path, tests: Sequence[str]) -> str:
    """The last line of pytest when a test fails on the sources of a folder; empty when all pass."""
    paths = os.pathsep.join(str(folder / name) for name in ("components", "rehearsal"))
    run = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(run, cwd=folder, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True)
    # 1: a test failed; 2: a test could not be collected. Others are mistakes of the list.
    if done.returncode not in (0, 1, 2):
        raise SystemExit(f"{' '.join(tests)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout.strip().rpartition("FAILED ")[2] or "failed" if done.returncode else ""


def main() -> int:
    mutations = yaml.safe_load(LIST.read_text())
    missed = 0
    with tempfile.TemporaryDirectory(prefix="gpufleet-mutations-") as name:
        folder = Path(name)
        copy_of(ROOT, folder)
        if problem := failure(folder, sorted({test for each in mutations for test in each["tests"]})):
            print(f"tests fail on the sources as they are: {problem}", file=sys.stderr)
            return 1
        for number, each in enumerate(mutations, 1):
            file = folder / each["file"]
            text = file.read_text()
            if text.count(each["line"]) != 1:
                print(f"{LIST.name}: {each['file']}: must have exactly one {each['line']!r}", file=sys.stderr)
                return 1
            file.write_text(text.replace(each["line"], each["mutation"]))
            noticed = bool(failure(folder, each["tests"]))
            file.write_text(text)
            missed += not noticed
            what = "noticed" if noticed else "NOT NOTICED"
            print(f"{number:2} {what}: {each['file']}: {each['line']} -> {each['mutation']}", flush=True)
    print(f"{len(mutations) - missed} of {len(mutations)} noticed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
