"""Programs that run on nodes are Python 3.8, whatever Python an image has: what is written is judged by vermin."""

import subprocess
import sys
from pathlib import Path

import pytest

import gpufleet.jobs

JOBS = Path(gpufleet.jobs.__file__).parent
FOLDERS = [JOBS / "node_runtime", JOBS / "aws_batch" / "node_side"]
VERMIN = [str(Path(sys.executable).with_name("vermin")), "--no-tips", "--violations", "--target=3.8-"]


def judged(*places: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*VERMIN, *map(str, places)], capture_output=True, text=True, timeout=600, check=False)


def test_programs_need_no_newer_python() -> None:
    done = judged(*FOLDERS)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "line",
    ["import datetime; datetime.UTC", "'a'.removeprefix('a')", "zip([], strict=True)", "match 1:\n case _: pass"],
)
def test_newer_python_is_found(line: str, tmp_path: Path) -> None:
    file = tmp_path / "s3.py"
    file.write_text(f"{line}\n")
    assert judged(file).returncode != 0
